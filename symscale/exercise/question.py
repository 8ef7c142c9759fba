"""Questions in words: what an exercise asks, made from its derivation or as its author puts it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field

import sympy as sp

from symscale.derivation.evaluate import quantity
from symscale.derivation.layer import Layer
from symscale.derivation.registry import blackboard
from symscale.derivation.step import Prose, Step
from symscale.exercise.answers import known, read
from symscale.exercise.exercise import Asked, Exercise
from symscale.exercise.kinds import COLLECTIVES, CONDITION, FORMULA, MESH, NOTATION, NUMBER, YES_OR_NO, kind_of
from symscale.exercise.sentence import counted, sentence
from symscale.exercise.setting import Setting
from symscale.frozen import dataclass
from symscale.machine import Machine, chosen
from symscale.notation.formula import parse_relation
from symscale.notation.numbers import format_number
from symscale.notation.order import Order
from symscale.vocabulary import entry

_NUMBERED = re.compile(
    r"\d|\b(one|two|three|four|five|six|seven|eight|nine|ten|sixteen|hundred|thousand|million|half|twice|nearly"
    r"|int[48]|fp(8|16|32)|bf16)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Given:
    """A value that a question gives: its symbol, the value with its unit, and what it is."""

    name: sp.Symbol
    shown: str
    meaning: str = ""


@dataclass(frozen=True)
class Question:
    """A question: what is to be found in which form, from which programs and values.

    `whole` says that nothing is missing which a reader needs, `ready` that formulas are given and need only be solved
    or filled; `setting` is said of the programs, `chip` names where the constants among the givens come from, and
    `vary` is the seed of a variant.
    """

    id: str
    what: str
    kind: str
    find: Prose
    form: str
    title: str = ""
    source: str = ""
    programs: tuple[str, ...] = ()
    setting: str = ""
    givens: tuple[Given, ...] = ()
    chip: str = ""
    vary: int | None = None
    whole: bool = True
    ready: bool = False
    order: Order = field(default_factory=Order)


def question(one: Exercise, vary: int | None = None) -> Question:
    """Return the question that asks for what an exercise asks first."""
    asked = one.headline
    kind = kind_of(asked)
    at = _stated_at(one, asked)
    find, whole = sentence(one, asked, kind)
    setting = next((each for each, _ in asked.numbers), None)
    machine = _machine(one, asked, at)
    givens = tuple(_givens(one, asked, setting, kind))
    if asked.ask is not None:
        find, whole = filled(asked.ask.question, one, machine), True
    board = blackboard(one.derivation, one.terms) if one.derivation else None
    ready = find[:1] == ("Work out ",) or any(isinstance(each, str) and each.startswith(" hold?") for each in find)
    programs = _programs(one, asked, at, kind, ready)
    constants = _constants(machine)
    return Question(
        one.id,
        asked.what,
        kind,
        find,
        _form(asked, kind),
        _title(one, vary),
        board.source if board is not None else "",
        tuple(line for each in programs for text in each.lines if isinstance(text, str) for line in text.splitlines()),
        _setting(programs, one.layer, setting.used if setting is not None else {}),
        givens,
        machine.title if machine is not None and any(str(each.name) in constants for each in givens) else "",
        vary,
        whole,
        ready,
        board.order if board is not None else Order(),
    )


def filled(text: str, one: Exercise, machine: Machine | None = None) -> str:
    """Return an author's words with what is put in for {D}, {chip} and {dtype}."""
    board = blackboard(one.derivation, one.terms)
    put = {name: format_number(value, 6) for each in board.entered for name, value in _numbers(each.values)}
    put |= {name: format_number(value, 6) for name, value in one.terms.values if name in put}
    last = next((each.chip for each in reversed(board.entered) if each.chip is not None), machine)
    put["chip"] = last.title if last is not None else "a chip"
    put["dtype"] = ", ".join(sorted(set(one.layer.typed.dtype.values()))) if one.layer is not None else ""
    return re.sub(r"\{(\w+)\}", lambda found: put.get(found[1], found[0]), text)


def _numbers(values: tuple[tuple[str, str | int | sp.Expr], ...]) -> Iterator[tuple[str, sp.Expr]]:
    for name, value in values:
        number = read(value) if isinstance(value, str) else sp.Integer(value) if isinstance(value, int) else value
        if isinstance(number, sp.Expr) and number.is_number:
            yield name, number


#: A formula in words: 18 B T D F, 8 D tokens, C/W.
_FORMULA = re.compile(r"\b\d+(?:\.\d+)? ?[A-Z]\b|\b[A-Z] [A-Z]\b|\b[A-Z]\w*/[A-Z]")


def _title(one: Exercise, vary: int | None) -> str:
    """Return a title that asks, but where it gives the answer away, or speaks of numbers that a variant has not.

    A title that states something is that of the derivation: it tells what is to be found.
    """
    title = blackboard(one.derivation).title if one.derivation else ""
    if not title.endswith("?"):
        return ""
    found = one.headline.crossover
    settled = found is not None and all(case.always or case.never for case in found.headline.cases)
    yes_or_no = one.headline.words in ("yes", "no")
    told = (
        settled
        or yes_or_no
        or bool(_FORMULA.search(title))
        or any(_tells(title, value) for _, value in one.headline.numbers)
    )
    return "" if told or (vary is not None and _NUMBERED.search(title)) else title


def _tells(title: str, value: sp.Expr) -> bool:
    """Say whether a title has the answer in it, as it is or in percent: tiles that take 60 % more."""
    shown = {f"{float(each):.3g}" for each in (value, 100 * value, 100 * (value - 1), 100 * (1 - value))}
    return any(f"{float(each):.3g}" in shown for each in re.findall(r"\d+(?:\.\d+)?", title.replace(",", "")))


def _stated_at(one: Exercise, asked: Asked) -> int:
    """Return the number of the step up to which programs count, 0 for all of them."""
    return asked.settings[0].at if asked.settings and one.derivation else 0


def _machine(one: Exercise, asked: Asked, at: int) -> Machine | None:
    if one.row is not None and (one.row.on or one.row.formula):
        return chosen(one.row.on or None)
    numbered = next((each.at for each, _ in asked.numbers), at)
    entered = [each for each in blackboard(one.derivation, one.terms).entered if each.at < (numbered or 10**6)]
    return next((each.chip for each in reversed(entered) if each.chip is not None), None)


def _constants(machine: Machine | None) -> set[str]:
    if machine is None:
        return set()
    return {"C", *(f"C_{dtype}" for dtype, _ in machine.peaks), *machine.constants(), *machine.cores}


def _givens(one: Exercise, asked: Asked, setting: Setting | None, kind: str) -> Iterator[Given]:
    """Yield the values that go into the answer, those of a chip last."""
    used: Mapping[sp.Symbol, sp.Expr] = setting.used if setting is not None else {}
    if asked.crossover is not None and setting is not None:
        # both ends of an interval, and the conditions of its case
        used = {name: value for each in asked.settings if each.at == setting.at for name, value in each.used.items()}
        names = {name for case in asked.crossover.headline.cases for each in case.when for name in each.free_symbols}
        used |= {name: value for name, value in setting.values.items() if name in names}
    if kind == YES_OR_NO and one.row is not None:
        lhs, _, rhs, _ = parse_relation(one.headline.what)
        names = lhs.free_symbols | rhs.free_symbols
        used = {name: value for name, value in known(one.row).items() if name in names}
    if one.headline.optimum is not None and one.headline.optimum.integers:
        used = {**used, **_meshes(one)}
    for name in sorted(used, key=lambda each: (_rate(str(each)), str(each))):
        if used[name].is_number:
            # without heads K is a dimension of an array, like I and J
            names = {str(each) for each in used}
            array = str(name) == "K" and not {"H", "N_heads", "G"} & names
            # beside b, bytes of every element, b_m is something else
            other = str(name).startswith("b_") and "b" in names
            yield Given(name, quantity(name, used[name], one.layer), "" if array or other else _meaning(str(name)))


def _meshes(one: Exercise) -> dict[sp.Symbol, sp.Expr]:
    """Return the values of sizes that an author puts in where meshes are compared."""
    board = blackboard(one.derivation, one.terms)
    best = board.optima[-1]
    put = [each for each in board.entered if not each.mesh]
    names = {*best.value.free_symbols, *best.point.free_symbols}
    values = {name for each in put for name, _ in each.values}
    given = board.terms.given({name: value for each in put for name, value in each.values})
    return {name: value for name, value in given.items() if name in names and str(name) in values}


def _rate(name: str) -> bool:
    row = entry(name)
    return (row is not None and row.unit in ("FLOP/s", "B/s", "s")) or name.startswith(("W_", "C_", "T_"))


def _meaning(name: str) -> str:
    row = entry(name)
    if row is not None:
        return row.meaning
    stem, _, rest = name.partition("_")
    said = {"b": f"bytes per element of {rest}", "C": f"peak FLOPs per second in {rest}"}
    said |= {"M": f"physical axes that {rest} spans" if len(rest) == 1 else ""}
    return said.get(stem, "") if rest else ""


def _programs(one: Exercise, asked: Asked, at: int, kind: str, ready: bool) -> list[Step]:
    """Return the steps that give the programs which a question is about: one, where it is about a pass."""
    if not one.derivation or (ready and kind == NUMBER):
        return []
    steps = blackboard(one.derivation, one.terms).steps
    of_pass = asked.crossover is not None and bool(asked.crossover.passes)
    step = counted(one, asked.settings[0]) if asked.settings and one.layer is not None and not of_pass else None
    first = asked.settings[-1].at if of_pass and asked.settings else at
    last = steps.index(step) if step is not None else first or None
    found = [each for each in steps[:last] if each.kind == "given"]
    alone = of_pass or step is not None or asked.sent is not None or asked.optimum is not None
    return found[-1:] if alone else found


def _setting(steps: list[Step], layer: Layer | None, used: Mapping[sp.Symbol, sp.Expr]) -> str:
    """Return where the meshes lie, and the dtype of all arrays, but where other bytes per element are given."""
    said = list(dict.fromkeys(each.reason for each in steps if isinstance(each.reason, str)))
    other = layer is not None and any(used.get(name, width) != width for name, width in layer.typed.numbers.items())
    if steps and layer is not None and not other:
        dtypes = {layer.typed.dtype[name] for name in layer.program.leaves}
        if len(dtypes) == 1 and next(iter(dtypes)) not in layer.program.text:
            said.append(f"Arrays are in {dtypes.pop()}.")
    return " ".join(said)


def _form(asked: Asked, kind: str) -> str:
    """Return in which form the answer is wanted."""
    if kind == CONDITION:
        return f"a condition on {asked.what}, in symbols or in numbers; or always, or never"
    if kind == MESH and asked.optimum is not None:
        return f"the whole size of each axis, as in {asked.optimum.variable}=1"
    if kind == NUMBER:
        unit = next((each.asked_in for each, _ in asked.numbers), "")
        # B is a batch, too
        return f"a number in {'bytes' if unit == 'B' else unit}" if unit else "a number"
    return {
        FORMULA: "a formula",
        COLLECTIVES: "collectives, as in AllGather_X(W), or none",
        YES_OR_NO: "yes or no",
        NOTATION: "a line of notation",
    }[kind]
