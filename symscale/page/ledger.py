"""The live part of one derivation as a script: its inputs, and every number as a function of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

import sympy as sp

from symscale.array.dtypes import ELEMENT_BYTES
from symscale.derivation.figure import Condition, Values
from symscale.derivation.step import Derivation
from symscale.machine import Machine
from symscale.page.again import written_again
from symscale.page.inputs import Input, chips, inputs_of, setting_of
from symscale.page.live import Live
from symscale.page.origin import STAYS, dtypes, otherwise, sources
from symscale.page.script import javascript, supported
from symscale.solve.relation import Case, Relation


class Ledger:
    """What a page writes down of a derivation while it sets its steps; `script` is all of it as JavaScript."""

    def __init__(self, key: str, derivation: Derivation, used: frozenset[sp.Symbol]) -> None:
        self.key = key
        self.setting = setting_of(derivation, used)
        self.inputs: tuple[Input, ...] = inputs_of(derivation, used, self.setting)
        self.places = {each.symbol: place for place, each in enumerate(self.inputs)}
        self.own_dtypes, self.dtypes = dtypes(derivation)
        self._again = written_again(derivation, self.dtypes)
        self.sources = sources(derivation, -1, self._again)
        self._refused = otherwise(derivation, chips())
        self._settings: dict[str, int] = {}
        self._taken: dict[Machine, None] = {}
        self._numbers: list[str] = []
        self._answers: list[str] = []
        self._bars: list[str] = []
        self._columns: list[str] = []
        self._maps: list[str] = []
        self._plots: list[str] = []

    def at(self, derivation: Derivation, place: int) -> None:
        """Begin with a step: its numbers come from what has been put in before it."""
        self.sources = sources(derivation, place, self._again)

    @property
    def chips(self) -> tuple[Machine, ...]:
        """The chips that numbers are taken from."""
        return (self.setting.chip, *self._taken)

    def number(self, live: Live, relation: Relation | None = None, when: Sequence[Relation] = ()) -> str:
        """Write a number down and return the id of the element that shows it.

        A `relation` is compared at the inputs; a number whose conditions `when` do not hold there does not apply.
        """
        fields = [
            self.values(live.own, whole=not live.expr.is_Symbol),
            text(live.unit),
            self.function(live.expr),
            self.needs(live.used),
        ]
        if relation is not None and self.counts(relation.lhs):
            fields.append(
                f"{{op:{text(relation.op)},f:{self.function(relation.lhs)},needs:{self.needs([relation.lhs])}}}"
            )
        else:
            fields.append("null")
        known = [each for each in when if self.counts(each.lhs, each.rhs)]
        fields.append(f"[{','.join(map(self.relation, known))}]")
        fields.append(self.needs([side for each in known for side in (each.lhs, each.rhs)]))
        return self._kept(self._numbers, "n", f"[{','.join(fields)}]")

    def answer(self, cases: Sequence[Case], own: Values, unit: str) -> str:
        """Write down an answer of several cases, of which the inputs choose one; return the id of its element."""
        sides = [side for case in cases for side in _sides(case)]
        made = f"{{at:{self.values(own)},unit:{text(unit)},needs:{self.needs(sides)},cases:{self.cases(cases)}}}"
        return self._kept(self._answers, "a", made)

    def bars(self, passes: str, parts: Sequence[tuple[str, str, bool]]) -> str:
        """Write down times of `passes` to compare, (label, id of the number, whether it is a part of the network's)."""
        rows = [f"[{text(label)},{int(number.rpartition('n')[2])},{int(part)}]" for label, number, part in parts]
        return self._kept(self._bars, "b", f"[{text(passes)},[{','.join(rows)}]]")

    def map(
        self,
        y: sp.Expr,
        x: Sequence[sp.Symbol],
        conditions: Sequence[Condition],
        areas: Sequence[tuple[str, Sequence[int], Sequence[int]]],
        own: Values,
        span: Sequence[sp.Expr] = (),
    ) -> str:
        """Write down a map over the symbols `x`, one of which a reader chooses, and `y`; `span` is where it starts."""
        borders = ",".join(self.cases(each.cases) for each in conditions)
        rows = [(text(label), text(list(inside)), text(list(outside))) for label, inside, outside in areas]
        named = ",".join(f"[{','.join(row)}]" for row in rows)
        sides = [y, *(side for each in conditions for case in each.cases for side in _sides(case))]
        fields = {
            "at": self.values(own),
            "x": text([self.places[each] for each in x]),
            "y": self.function(y),
            "lead": str(self.places[min(y.as_numer_denom()[0].free_symbols, key=str)]),
            "needs": self.needs(sides),
            "borders": f"[{borders}]",
            "areas": f"[{named}]",
            "span": text([float(each) for each in span]),
        }
        return self._kept(self._maps, "m", "{" + ",".join(f"{name}:{made}" for name, made in fields.items()) + "}")

    def column(self, unit: str, cells: Sequence[str | sp.Expr]) -> str:
        """Write down a column in one unit: ids of numbers, and numbers that stay; return the id of its unit."""
        made = ",".join(each.rpartition("n")[2] if isinstance(each, str) else exact(each) for each in cells)
        return self._kept(self._columns, "c", f"[{text(unit)},[{made}]]")

    def curves(self, fields: Mapping[str, str]) -> str:
        """Write down a plot of curves whose parts are scripts already."""
        return self._kept(self._plots, "p", "{" + ",".join(f"{name}:{made}" for name, made in fields.items()) + "}")

    def counts(self, *exprs: sp.Expr) -> bool:
        """Say whether every symbol of some formulas is an input."""
        return all(each.free_symbols <= self.places.keys() and supported(each) for each in exprs)

    def function(self, expr: sp.Expr, places: Mapping[sp.Symbol, int] | None = None) -> str:
        """Return a formula as a function of an arithmetic and the values of the inputs, or of other `places`."""
        return f"(a,v)=>{javascript(expr, self.places if places is None else places)}"

    def relation(self, each: Relation) -> str:
        """Return a relation as [left, sign, right]."""
        return f"[{self.function(each.lhs)},{text(each.op)},{self.function(each.rhs)}]"

    def cases(self, cases: Sequence[Case]) -> str:
        """Return cases as conditions and intervals."""
        made = []
        for case in cases:
            ends = [
                f"[{self.function(e.lo)},{int(e.lo_open)},{self.function(e.hi)},{int(e.hi_open)}]"
                for e in case.intervals
            ]
            made.append(f"[[{','.join(map(self.relation, case.when))}],[{','.join(ends)}]]")
        return f"[{','.join(made)}]"

    def needs(self, parts: Iterable[sp.Expr]) -> str:
        """Return the places of the inputs in some formulas."""
        names = {name for each in parts for name in each.free_symbols}
        return text(sorted(self.places[name] for name in names if name in self.places))

    def values(self, own: Values, whole: bool = True) -> str:
        """Return the number of a set of values that steps put in, and of what holds of the `whole` step."""
        kept = {self.places[name]: self._row(name, value) for name, value in own if name in self.places}
        rows = [kept[place] for place in sorted(kept)]
        if rows and whole:
            rows += self._whole()
        made = ",".join(rows)
        return str(self._settings.setdefault(f"[{made}]", len(self._settings)))

    def _whole(self) -> list[str]:
        """Return what holds of every number of the step: the peaks that its chip needs, and why it may be another."""
        kinds, follows = self.sources.peaks
        chip = self.sources.chip if kinds else None
        if chip is not None:
            self._taken[chip] = None
        parts = ("follows" if follows else "", kinds, chip.title if chip is not None else "", *self.sources.others)
        return [f"[-1,null,{','.join(map(text, parts))}]"] if any(parts) else []

    def _row(self, name: sp.Symbol, value: sp.Expr) -> str:
        """Return a number that a step puts in, and what it is on another chip or in another dtype."""
        found = self.sources.of(name, value)
        parts = [str(self.places[name]), exact(value)]
        if found != STAYS:
            chip = found.chip.title if found.chip is not None and found.kind else ""
            if found.chip is not None and found.kind:
                self._taken[found.chip] = None
            parts += map(text, (found.figure, found.kind, chip, found.refused, found.anew))
        return f"[{','.join(parts)}]"

    def _kept(self, among: list[str], letter: str, made: str) -> str:
        among.append(made)
        return f"{self.key}-{letter}{len(among) - 1}"

    @property
    def live(self) -> bool:
        """Whether a reader can change anything."""
        return bool(self.inputs) and bool(self._numbers or self._maps or self._plots)

    @property
    def script(self) -> str:
        """All of it as one call."""
        parts = {
            "key": text(self.key),
            "chip": text(self.setting.chip.title),
            "kind": text(self.setting.kind),
            "dtypes": text(self.dtypes),
            "refused": text(self._refused),
            "inputs": f"[{','.join(map(_input, self.inputs))}]",
            "settings": f"[{','.join(self._settings)}]",
            "numbers": f"[{','.join(self._numbers)}]",
            "answers": f"[{','.join(self._answers)}]",
            "columns": f"[{','.join(self._columns)}]",
            "bars": f"[{','.join(self._bars)}]",
            "maps": f"[{','.join(self._maps)}]",
            "plots": f"[{','.join(self._plots)}]",
        }
        return "derivation({" + ",\n".join(f"{name}:{made}" for name, made in parts.items()) + "});"


def _sides(case: Case) -> list[sp.Expr]:
    ends = [end for each in case.intervals for end in (each.lo, each.hi)]
    return [*ends, *(side for each in case.when for side in (each.lhs, each.rhs))]


def _input(each: Input) -> str:
    start = "null" if each.start is None else exact(each.start)
    flags = f"{int(each.example)},{int(each.on_chip)},{int(each.width)}"
    return f"[{text(str(each.symbol))},{text(each.unit)},{start},{flags}]"


def exact(value: sp.Expr) -> str:
    """Return a number as an exact value of the page's arithmetic."""
    return f"((a)=>{javascript(value, {})})(exact)" if not value.is_Rational else f"fraction({value.p}n,{value.q}n)"


def text(words: object) -> str:
    """Return words, or lists and tables of them, as JavaScript that can end no script element."""
    return json.dumps(words).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def chips_script(offered: Sequence[str], chips: Mapping[str, Mapping[str, sp.Rational]]) -> str:
    """Return the numbers of chips by title, those that a reader may choose, and the bytes of dtypes."""
    rows = [
        f"{text(title)}:{{{','.join(f'{text(name)}:{exact(value)}' for name, value in figures.items())}}}"
        for title, figures in chips.items()
    ]
    widths = ",".join(f"{text(dtype)}:{exact(size)}" for dtype, size in ELEMENT_BYTES.items())
    return f"const CHIPS = {{{','.join(rows)}}};\nconst OFFERED = {text(offered)};\nconst BYTES = {{{widths}}};"
