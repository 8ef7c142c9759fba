"""What of an exercise may be given other values: sizes, chips and dtypes, and which values are plausible."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

import sympy as sp

from symscale.derivation.asking import Ask
from symscale.derivation.entered import Entered
from symscale.derivation.registry import blackboard, entry
from symscale.derivation.terms import Terms
from symscale.errors import SymscaleError
from symscale.exercise.exercise import Exercise
from symscale.frozen import dataclass
from symscale.machine import machine, machines
from symscale.machine.model import CORE_SYMBOL
from symscale.notation.formula import parse_formula
from symscale.vocabulary import entry as row_of

CHIP, DTYPE = "on", "dtype"
#: By which factors a size may change, and those of a mesh.
FACTORS = tuple(sp.Rational(*each) for each in ((1, 4), (1, 2), (3, 4), (1, 1), (3, 2), (2, 1), (4, 1)))
DOUBLINGS = tuple(sp.Rational(*each) for each in ((1, 4), (1, 2), (1, 1), (2, 1), (4, 1)))
#: Sizes of a transformer that are the product of two others.
PRODUCTS = (("G", "K", "N_heads"), ("N_heads", "H", "D"))
#: A size that is this small is a count of a few things, and keeps to doublings.
FEW = 16
MOST_SAMPLED = 400


@dataclass(frozen=True)
class Knob:
    """A name and the values it may have, that of the author among them."""

    name: str
    own: sp.Expr | str
    options: tuple[sp.Expr | str, ...]


def knobs(exercise: Exercise) -> list[Knob]:
    """Return what may be varied in an exercise, within the limits that its author sets."""
    limits = _limits([each.ask for each in exercise.asked if each.ask is not None])
    if limits is None:
        return []
    entered = _entered(exercise)
    sizes = [_size(name, value, mesh, limits) for name, (value, mesh) in _literals(entered).items()]
    found = [*sizes, _chip(exercise, entered, limits), _dtype(exercise, limits)]
    return [each for each in found if each is not None and len(each.options) > 1]


def sampled(found: Sequence[Knob], rng: random.Random) -> Terms | None:
    """Return terms with a value for every knob, whole sizes that were divisors still being so; None for its own."""
    own = {each.name: each.own for each in found}
    for _ in range(MOST_SAMPLED):
        put = _held({each.name: rng.choice(each.options) for each in found}, own)
        sizes = {name: value for name, value in put.items() if isinstance(value, sp.Basic)}
        if put != own and _divide_still(sizes, own):
            values = tuple(sorted((name, value) for name, value in sizes.items() if value != own[name]))
            chip, dtype = (str(put[key]) if put.get(key, own.get(key)) != own.get(key) else "" for key in (CHIP, DTYPE))
            return Terms(dtype=dtype, on=chip, values=values)
    return None


def _held(put: dict[str, sp.Expr | str], own: Mapping[str, sp.Expr | str]) -> dict[str, sp.Expr | str]:
    """Return the values with products that are those of a transformer kept: as many heads as the model is wide."""
    sizes = {name: value for name, value in own.items() if isinstance(value, sp.Expr)}
    drawn = {name: value for name, value in put.items() if isinstance(value, sp.Expr)}
    for one, other, product in PRODUCTS:
        if {one, other, product} <= sizes.keys() and sizes[one] * sizes[other] == sizes[product]:
            put[product] = drawn[product] = drawn[one] * drawn[other]
    return put


def _divide_still(put: Mapping[str, sp.Expr], own: Mapping[str, sp.Expr | str]) -> bool:
    """Say whether of whole sizes those that divide each other still do, and none has passed another."""
    whole = [name for name, value in put.items() if value.is_Integer and value > 1]
    for one in whole:
        for other in whole:
            had, has = (own[one], own[other]), (put[one], put[other])
            if one != other and had[0] % had[1] == 0 and has[0] % has[1] != 0:
                return False
    return True


def _entered(exercise: Exercise) -> list[Entered]:
    """Return what the author of a derivation, or a row of a book, puts in."""
    row = exercise.row
    if row is not None and (row.formula or row.given):
        return [Entered(0, row.on or None, None, tuple(row.given.items()))]
    own = blackboard(exercise.derivation).entered
    return [Entered(0, row.on, None, ()), *own] if row is not None and row.on else own


def _literals(entered: Sequence[Entered]) -> dict[str, tuple[sp.Expr, bool]]:
    """Return the values that are written as numbers and the same everywhere, and whether they are of a mesh."""
    found: dict[str, tuple[sp.Expr, bool]] = {}
    other: set[str] = set()
    for each in entered:
        for name, value in each.values:
            number = _number(value)
            if number is None or found.get(name, (number,))[0] != number:
                other.add(name)
            else:
                found[name] = (number, each.mesh or (name in found and found[name][1]))
    return {name: value for name, value in found.items() if name not in other}


def _number(value: str | int | sp.Expr) -> sp.Expr | None:
    """Return a number that is written as one, None for a formula and for what has been computed."""
    if isinstance(value, str):
        try:
            value = parse_formula(value).expr
        except SymscaleError:
            return None
        return value if value.is_Rational and value.is_positive else None
    return sp.Integer(value) if isinstance(value, int) and value > 0 else None


Limits = Mapping[str, tuple[tuple[int | str, ...], bool]]


def _limits(asks: Sequence[Ask]) -> Limits | None:
    """Return the values that an author allows, by name; None where no variants are allowed."""
    if any(each.vary is None for each in asks):
        return None
    return {name: (values, ranged) for each in asks for name, values, ranged in each.vary or ()}


def _size(name: str, own: sp.Expr, mesh: bool, limits: Limits) -> Knob | None:
    if name in limits:
        return Knob(name, own, tuple(_allowed(name, own, *limits[name])))
    row = row_of(name)
    # rates and bytes are those of a chip or a dtype, and a number of physical axes is one of a chip
    fixed = (row is not None and row.unit) or name.startswith(("M_", "b_", "W_", "C_", "T_")) or name in CORE_SYMBOL
    if fixed or own == 1 or name in CORE_SYMBOL.values():
        return None
    low = sp.Rational(row.low) if row is not None else sp.S.One
    high = sp.Rational(row.high) if row is not None else sp.oo
    return Knob(name, own, tuple(each for each in _plausible(name, own, mesh) if low <= each <= high or each == own))


def _plausible(name: str, own: sp.Expr, mesh: bool) -> Iterator[sp.Expr]:
    """Yield values like one that an author gives: whole for whole, a share for a share, of as many digits."""
    if not own.is_Integer:
        hundredths = {sp.Rational(round(100 * own * each), 100) for each in FACTORS[1:5]} if own < 1 else set()
        yield from sorted({own, *(each for each in hundredths if 0 < each < 1)})
        return
    counted = mesh or own <= FEW or name in ("N_chips", "X", "Y", "Z", "E", "k", "K", "N_heads", "H")
    for factor in DOUBLINGS[1:4] if own <= FEW else DOUBLINGS if counted else FACTORS:
        value = own * factor
        if value.is_Integer and value > 1:
            yield value


def _allowed(name: str, own: sp.Expr, values: Sequence[int | str], ranged: bool) -> Iterator[sp.Expr]:
    """Yield what an author allows: one of a list, or a number of a range that is like his own."""
    numbers = [_number(each) for each in values]
    if None in numbers or (ranged and len(numbers) not in (0, 2)):
        raise SymscaleError(
            f"{name} may not be varied over {values}.", hint="Give two numbers (1024, 16384), or a list of numbers."
        )
    given = [each for each in numbers if each is not None]
    if not ranged or not given:
        yield from dict.fromkeys([own, *given])
        return
    low, high = given
    steps = {own} | {each for each in _plausible(name, own, False) if low <= each <= high}
    if own.is_Integer:
        steps |= {sp.Integer(2) ** n for n in range(200) if low <= 2**n <= high}
    yield from sorted(steps)


def _chip(exercise: Exercise, entered: Sequence[Entered], limits: Limits) -> Knob | None:
    """Return the chips of the same kind as the one that is named, where nothing of that one is written as a number."""
    named = {each.on for each in entered if each.on is not None}
    if len(named) != 1 or not isinstance(next(iter(named)), str):
        return None
    own = str(named.pop())
    if CHIP in limits:
        return Knob(CHIP, own, tuple(dict.fromkeys([own, *map(str, limits[CHIP][0])])))
    rates = {"C", *CORE_SYMBOL.values()}
    given = {name for each in entered for name, _ in each.values}
    fixed = any(name in rates or name.startswith(("C_", "W_", "T_", "M_h")) for name in given)
    uses = exercise.derivation and "machine" in entry(exercise.derivation).write.__code__.co_names
    if fixed or uses or own not in machines():
        return None
    family = own.startswith("tpu")
    kind = machine(own).main_network
    like = [
        name
        for name in machines()
        if name.startswith("tpu") is family
        and [each.name for each in machine(name).networks] == [each.name for each in machine(own).networks]
        and (kind is None or machine(name).main_network == kind or len(kind.pod) <= _axes(name))
    ]
    return Knob(CHIP, own, tuple(like))


def _axes(name: str) -> int:
    network = machine(name).main_network
    return len(network.pod) if network is not None else 0


def _dtype(exercise: Exercise, limits: Limits) -> Knob | None:
    """Return the dtypes of a program that declares none of its own, where an author allows others."""
    if DTYPE not in limits or exercise.layer is None:
        return None
    own = sorted(set(exercise.layer.typed.dtype.values()))
    return Knob(DTYPE, own[0], tuple(dict.fromkeys([own[0], *map(str, limits[DTYPE][0])]))) if len(own) == 1 else None
