"""Sentences that ask: for a condition, a quantity of a program, the best mesh, collectives or a word."""

from __future__ import annotations

import re
from collections.abc import Iterator

import sympy as sp

from symscale.derivation.crossover import Crossover, resource_name
from symscale.derivation.layer import Layer
from symscale.derivation.limits import readable
from symscale.derivation.minimum import Optimised
from symscale.derivation.registry import blackboard
from symscale.derivation.step import Prose, Step
from symscale.exercise.answers import same
from symscale.exercise.exercise import Asked, Exercise
from symscale.exercise.kinds import NUMBER
from symscale.exercise.setting import Setting
from symscale.notation.formula import parse_relation
from symscale.notation.text import to_text
from symscale.solve.relation import Relation
from symscale.vocabulary import entry, symbol

#: A formula of more characters is not asked for in a sentence.
MOST_READ = 120
#: What a program settles besides the times of the vocabulary.
RESULTS = {
    "FLOPs": "the FLOPs of one chip",
    "FLOPs_vector": "the FLOPs of the vector units",
    "bytes_hbm": "the bytes of HBM traffic of one chip",
    "intensity": "the FLOPs per byte of HBM traffic",
}
_SPAN = {">=": "at least as long as", ">": "longer than", "<=": "at most as long as", "<": "less long than"}


def sentence(one: Exercise, asked: Asked, kind: str) -> tuple[Prose, bool]:
    """Return what is to be found, and whether the sentence with the givens is enough to find it."""
    if asked.words:
        return _worded(one, asked)
    if asked.sent is not None:
        which = asked.what.removeprefix("collectives").strip() or "forward"
        said = f"Which collectives run in the {which} pass, over which mesh axes, and of which arrays?"
        return said, one.layer is not None and bool(one.layer.axes)
    if asked.crossover is not None:
        return _condition(asked.crossover, one)
    if asked.optimum is not None:
        return _least(asked.optimum, one)
    return _quantity(one, asked, kind)


def _worded(one: Exercise, asked: Asked) -> tuple[Prose, bool]:
    if asked.words in ("yes", "no"):
        lhs, op, rhs, _ = parse_relation(asked.what)
        return ("Does ", Relation(lhs, op, rhs), " hold?"), one.row is not None and bool(one.row.formula)
    word, _, which = asked.what.partition(" ")
    if word == "collectives":
        passes = {"both": "both passes", "": "the forward pass"}.get(which, f"the {which} pass")
        return f"Which collectives run in {passes}, in their order, as in `AllGather X, ReduceScatter X`?", True
    if word in ("product", "products"):
        whose = f"makes {which}" if word == "product" else f"the {which or 'forward'} pass consists of"
        return f"Which {word} {whose}, in the notation of the program?", True
    if word == "program":
        return "Write the program in the notation of sharded arrays.", False
    return (f"Work out {asked.what}.",), one.row is not None and bool(one.row.formula)


def _condition(found: Crossover, one: Exercise) -> tuple[Prose, bool]:
    unknown, relation, layer = found.headline.unknown, found.relation, one.layer
    limits = ", ".join(map(readable, found.headline.assumptions))
    near: tuple[str | sp.Expr | Relation, ...] = (f" Take {limits}.",) if limits else ()
    if found.passes and layer is not None and _is_work(relation, layer):
        passes = "both passes" if found.passes == "both" else f"the {found.passes} pass"
        whole = resource_name(found.resource)
        hidden = "traffic to HBM" if found.resource == "hbm" else f"communication over {whole}"
        said = f" does the arithmetic of {passes} take {_SPAN.get(relation.op, 'as long as')} the {hidden}"
        said += f"{_on_chips(found, layer)}?"
        return ("For which ", unknown, said, *near), True
    if len(to_text(relation.lhs)) + len(to_text(relation.rhs)) <= MOST_READ:
        return ("For which ", unknown, " does ", relation, " hold?", *near), True
    return ("Under which condition on ", unknown, " does this hold?", *near), False


def _on_chips(found: Crossover, layer: Layer) -> str:
    """Say on which mesh, where a number of chips stands for one of its axes or the best mesh is meant."""
    names, axes = found.relation.free_symbols, layer.mesh_symbols
    if symbol("N_chips") not in names or len(axes) < 2:
        return ""
    best = "the best " if not names & set(axes) else ""
    return f", on {best or 'a '}mesh with {'*'.join(map(str, axes))} = N_chips"


def _is_work(relation: Relation, layer: Layer) -> bool:
    """Say whether the left side is arithmetic, at the peak of a dtype, and the right side is none."""
    peaks = {"C", *(f"C_{kind}" for kind in layer.kinds)}
    left, right = ({str(each) for each in side.free_symbols} & peaks for side in (relation.lhs, relation.rhs))
    return bool(left) and not right


def _least(best: Optimised, one: Exercise) -> tuple[Prose, bool]:
    steps = blackboard(one.derivation, one.terms).steps
    fixed = next((each for each in steps if each.title == "On a fixed number of chips"), None)
    rule = [part for part in fixed.reason if isinstance(part, Relation)] if fixed is not None else []
    whose = {"both": "both passes", "": "the program"}.get(best.passes, f"the {best.passes} pass")
    chips: tuple[str | sp.Expr | Relation, ...] = (" with ", rule[0], ",") if rule else ()
    parts = ("Which size of the mesh axis ", best.variable, ",", *chips, f" makes the communication of {whose} least?")
    # the losses of whole meshes are compared by the exact form
    return parts, True


def _quantity(one: Exercise, asked: Asked, kind: str) -> tuple[Prose, bool]:
    """Return the sentence that asks for a quantity: of the program, or of a formula."""
    if not asked.settings:
        return f"Find {asked.what}.", False
    setting = asked.settings[0]
    if one.row is not None and one.row.formula:
        return ("Work out ", setting.expr, "."), True
    name = setting.of_what
    step = counted(one, setting) if one.layer is not None else None
    if step is not None:
        means = meaning_of(str(name), one.layer)
        whose = f" ({means})" if means else ""
        passes = step.title.partition(":")[0] if "pass" in step.title.partition(":")[0] else ""
        of = f" of {'both passes' if passes.startswith('Both') else f'the {passes.lower()}'}" if passes else ""
        near = f" {step.title[:1].lower()}{step.title[1:]}" if step.title.startswith("For ") else ""
        how = ", in numbers." if kind == NUMBER else ", as a formula."
        return ("Find ", name, f"{whose}{of}{near}{how}"), bool(means)
    short = len(to_text(setting.expr)) <= MOST_READ and bool(setting.expr.free_symbols)
    if kind == NUMBER and short:
        return ("Work out ", Relation(name, "==", setting.expr), "."), True
    how = ", in numbers." if kind == NUMBER else ", as a formula."
    return ("Find ", name, how, *_context(one, setting)), False


def _context(one: Exercise, setting: Setting) -> Iterator[str]:
    """Yield what the derivation says of a quantity, unless that tells what it is equal to."""
    if not one.derivation or not setting.at:
        return
    step = blackboard(one.derivation, one.terms).steps[setting.at - 1]
    said = step.reason if step.kind == "remark" else step.title if step.kind == "count" else ""
    if isinstance(said, str) and said and not re.search(r"\d", said) and to_text(setting.expr) not in said:
        yield f' The derivation says of it: "{said}"'


def meaning_of(name: str, layer: Layer | None) -> str:
    """Return what a result of a program, or a quantity of the table that is measured, is; "" for other names."""
    if name.startswith("bytes_") and layer is not None and name.removeprefix("bytes_") in layer.axes:
        return f"the bytes that a chip receives over {name.removeprefix('bytes_')}"
    if re.fullmatch(r"V_\d+", name):
        return f"the bytes of collective number {name[2:]}, of the whole array over its axes"
    row = entry(name)
    return RESULTS.get(name) or (f"the {row.meaning}" if row is not None and row.unit else "")


def counted(one: Exercise, setting: Setting) -> Step | None:
    """Return the step that counts a quantity of the program, or turns counts into it, as a setting has it."""
    for step in blackboard(one.derivation, one.terms).steps:
        if step.kind in ("count", "substitute", "approximate"):
            for each in step.equations:
                if each.lhs == setting.of_what and same(each.rhs, setting.expr):
                    return step
    return None
