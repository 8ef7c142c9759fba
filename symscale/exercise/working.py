"""A working of several lines: where is the first line that does not follow?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import sympy as sp

from symscale.errors import SymscaleError
from symscale.exercise.answers import same
from symscale.exercise.borders import meets
from symscale.exercise.conditions import in_general, is_question, relations
from symscale.exercise.desk import check
from symscale.exercise.diagnosis import within
from symscale.exercise.exercise import Exercise
from symscale.exercise.formulas import defined
from symscale.exercise.judge import formula
from symscale.exercise.names import aliases, bounded
from symscale.exercise.reading import Formula, Number, Relations, read_answer
from symscale.exercise.units import CLOSE
from symscale.exercise.verdict import RIGHT, WRONG, Verdict
from symscale.exercise.wording import JOINED
from symscale.frozen import dataclass
from symscale.notation.text import to_text
from symscale.solve.exact import value_at
from symscale.solve.relation import Relation

_EQUAL = re.compile(r"(?<![<>=!≤≥])=(?![=<>])")


#: A longer working is not read.
MOST_LINES = 60


@dataclass(frozen=True)
class Line:
    """One line of a working, and whether it follows from what stands above it or from the derivation."""

    number: int
    text: str
    follows: bool
    said: str = ""


@dataclass(frozen=True)
class Working:
    """A working judged line by line, and what becomes of its last line."""

    lines: tuple[Line, ...]
    verdict: Verdict

    @property
    def first_fault(self) -> Line | None:
        """The first line that does not follow."""
        return next((line for line in self.lines if not line.follows), None)


def working(exercise: Exercise, text: str) -> Working:
    """Judge the lines of a working; the last is judged as the answer.

    Raises SymscaleError naming a line that cannot be read.
    """
    reader = _Reader(exercise)
    lines: list[Line] = []
    if len(text.splitlines()) > MOST_LINES:
        raise SymscaleError(f"A working has {MOST_LINES} lines at most.", hint="Leave out what follows at once.")
    for number, line in enumerate(text.splitlines(), start=1):
        plain = JOINED.sub("", line.strip())
        if plain:
            try:
                follows, said = reader.line(plain)
            except SymscaleError as error:
                raise SymscaleError(f"Line {number}: {error}") from error
            lines.append(Line(number, line.strip(), follows, said))
    last = lines[-1].text if lines else ""
    verdict = check(
        exercise,
        JOINED.sub("", last.rpartition("=")[2] if last.startswith("=") or is_chain(last) else last),
        reader.names,
    )
    fault = next((line for line in lines if not line.follows), None)
    if fault is not None:
        also = " The last line is right all the same." if verdict.accepted else ""
        said = f"Line {fault.number} is the first that does not follow. {fault.said}{also}"
        verdict = replace(verdict, kind=WRONG, said=said)
    return Working(tuple(lines), verdict)


def is_chain(text: str) -> bool:
    """Say whether a line is a chain of equals signs, a working of its own: M = 2*64*128 = 16384."""
    sizes = re.search(r"=\s*[\d*^]+\s+[A-Z]\w*\s*=", text)
    return len(_EQUAL.findall(text)) > 1 and not sizes and not re.search(r"[<>≤≥,;]|\\[lg]eq?\b|\band\b", text)


class _Reader:
    """What a working has said so far: names it has defined, the last relations, and the expression it goes on from."""

    def __init__(self, exercise: Exercise) -> None:
        self.exercise = exercise
        self.names: dict[sp.Symbol, sp.Expr] = {}
        self.stated: Sequence[Relation] = ()
        self.last: sp.Expr | None = None
        self.values = exercise.headline.values

    def line(self, text: str) -> tuple[bool, str]:
        """Say whether a line follows, and if it does not, why."""
        parts = [each.strip() for each in _EQUAL.split(text)]
        if len(parts) > 1 and not re.search(r"[<>≤≥]|\\[lg]eq?\b", text):
            return self._equalities(parts)
        found = read_answer(text, aliases(self.exercise))
        bounded(found, self.exercise)
        if isinstance(found, Relations):
            return self._relations(found)
        if isinstance(found, Formula | Number):
            before, self.last = self.last, found.expr if isinstance(found, Formula) else found.value
            # a number alone is the result of the line above, or one of the derivation
            alone = isinstance(found, Number) and found.digit and not self._is_stated(found)
            if alone and before is not None and not self._equal(before, self.last):
                return False, f"{text} is not {to_text(before)}."
            return True, ""
        verdict = check(self.exercise, text)
        return verdict.accepted, verdict.said

    def _equalities(self, parts: Sequence[str]) -> tuple[bool, str]:
        sides = [self._side(each) for each in parts if each]
        name, rest = sides[0], sides[1:]
        said = ""
        if not parts[0]:
            rest = sides if self.last is None else [self.last, *sides]
        elif name.is_Symbol and name not in self.names:
            verdict = self._stated(name, rest[0]) if self._derived(name) else None
            # what follows is judged by what stands here, right or wrong: a fault is counted once
            self.names[name] = self._put(rest[0])
            if verdict is not None and not verdict.accepted:
                return False, verdict.said
            said = verdict.said if verdict is not None else ""
        else:
            rest = sides
        self.last = rest[-1]
        for left, right in pairwise(rest):
            if not self._equal(left, right):
                return False, f"{to_text(left)} is not {to_text(right)}."
        return True, said

    def _side(self, text: str) -> sp.Expr:
        found = read_answer(text, aliases(self.exercise))
        bounded(found, self.exercise)
        if isinstance(found, Number):
            return found.value
        if isinstance(found, Formula):
            return found.expr
        raise SymscaleError(f"{text[:60]!r} is no side of an equation.")

    def _is_stated(self, found: Number) -> bool:
        """Say whether the derivation has a quantity of this value."""
        return any(within(found)(number) == "" for each in self.exercise.asked for _, number in each.numbers)

    def _derived(self, name: sp.Expr) -> bool:
        """Say whether the derivation states this quantity."""
        return any(each.settings and each.settings[0].of_what == name for each in self.exercise.asked)

    def _stated(self, name: sp.Expr, value: sp.Expr) -> Verdict:
        if value.is_number:
            wanted = [number for each in self.exercise.asked for one, number in each.numbers if one.of_what == name]
            close = any(abs(sp.N(each - value, 20)) <= abs(each) / 40 for each in wanted)
            return Verdict(
                RIGHT if close or not wanted else WRONG, "" if close else f"{to_text(name)} has another value."
            )
        return formula(Formula(self._put(value), name), self.exercise)

    def _put(self, expr: sp.Expr) -> sp.Expr:
        expr = expr.xreplace(self.names)
        return defined(expr, self.exercise, self.exercise.headline)

    def _equal(self, left: sp.Expr, right: sp.Expr) -> bool:
        """Compare two sides as they stand, with what is defined put in, and in numbers, which may be rounded."""
        if left == right or same(left, right) or same(self._put(left), self._put(right)):
            return True
        one, two = (value_at(self._put(each), self.values) for each in (left, right))
        if one.is_number and two.is_number and one.is_real and two.is_real:
            return bool(abs(sp.N(one - two, 20)) <= max(abs(sp.N(one, 20)) * 10 * CLOSE, _unit(two) / 2))
        return False

    def _relations(self, found: Relations) -> tuple[bool, str]:
        put = [Relation(self._put(each.lhs), each.op, self._put(each.rhs)) for each in found.each]
        asked = [one.crossover for one in self.exercise.asked if one.crossover is not None]
        before, self.stated = self.stated, put
        if before and asked and self._follows(before, put, asked[0].headline.unknown):
            return True, ""
        own = [in_general(each, self.exercise) for each in found.each]
        if not before and any(self._follows(own, [one.relation], one.headline.unknown) for one in asked):
            return True, "This is the question."
        if len(put) == 1 and any(is_question(one, each, self.exercise) for one in (put[0], own[0]) for each in asked):
            return True, "This is the question."
        verdict = relations(Relations(tuple(put)), self.exercise)
        return verdict.accepted, verdict.said

    def _follows(self, before: Sequence[Relation], then: Sequence[Relation], unknown: sp.Expr) -> bool:
        """Say whether relations say the same of the unknown, as they stand or in the dtypes of the program."""
        widths = self.exercise.widths
        try:
            return meets(before, then, unknown) or meets(_with(before, widths), _with(then, widths), unknown)
        except SymscaleError:
            return False


def _with(stated: Sequence[Relation], values: Mapping[sp.Symbol, sp.Expr]) -> list[Relation]:
    return [Relation(each.lhs.xreplace(values), each.op, each.rhs.xreplace(values)) for each in stated]


def _unit(value: sp.Expr) -> sp.Expr:
    """Return a unit of the last digit of a number as it is written in a working, to two digits at least."""
    if value == 0 or not value.is_Rational:
        return sp.S.Zero
    digits = f"{float(value):.12g}".partition("e")[0].replace(".", "").lstrip("0-").rstrip("0")
    return abs(value) * sp.Rational(10) ** (1 - max(len(digits), 2))
