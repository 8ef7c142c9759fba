"""Maps of regimes: those that a derivation draws, and which of its times is the longest where it draws none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import sympy as sp

from symscale.derivation.figure import Condition
from symscale.derivation.step import Derivation, Step
from symscale.errors import SymscaleError
from symscale.frozen import dataclass
from symscale.page.script import supported
from symscale.solve import crossover
from symscale.solve.relation import Relation
from symscale.vocabulary import symbol

# What a pass spends its time on, by the name of the time.
TIMES = {"T_math": "Arithmetic", "T_hbm": "HBM", "T_comms": "Network"}
NETWORKS = {
    "W_ici": "ICI",
    "W_link": "ICI",
    "W_nvlink": "NVLink",
    "W_ib": "InfiniBand",
    "W_dcn": "DCN",
    "W_pcie": "PCIe",
}
# A border of more operations is slow to solve and to draw.
MOST_OPERATIONS = 80


@dataclass(frozen=True)
class Compared:
    """The times of a pass, by what they are spent on, and those of single mesh axes."""

    times: Mapping[str, sp.Expr]
    axes: Mapping[str, sp.Expr]


@dataclass(frozen=True)
class Regimes:
    """Which of several times is the longest: a condition for each pair, solved for `unknown` in closed form."""

    compared: Compared
    unknown: sp.Symbol
    conditions: tuple[Condition, ...]


def compared(step: Step) -> Compared | None:
    """Return the times that a step states in formulas, if there are two or more to compare."""
    named = {str(each.lhs): each.rhs for each in step.equations if each.op == "==" and each.rhs.free_symbols}
    times = {resource(name, named[name]): named[name] for name in TIMES if name in named}
    if step.kind != "substitute" or len(times) < 2:
        return None
    axes = {name[2:]: each for name, each in named.items() if name.startswith("T_") and name not in TIMES}
    return Compared(times, axes)


def resource(name: str, spent: sp.Expr) -> str:
    """Return what a time is spent on: arithmetic, HBM, or the networks whose bandwidths are in it."""
    if name != "T_comms":
        return TIMES[name]
    rates = [each for each in sorted(map(str, spent.free_symbols)) if each.startswith("W_") and each != "W_hbm"]
    # a cluster's own levels: W_node is what leaves a node
    found = [NETWORKS.get(each, f"{each[2:]} uplinks") for each in rates]
    return " and ".join(dict.fromkeys(found)) or TIMES[name]


def regimes(derivation: Derivation, found: Compared) -> Regimes | None:
    """Return the map of the longest time, solved for what the derivation solves for; None without closed borders."""
    if any(each.count_ops() > MOST_OPERATIONS or not supported(each) for each in found.times.values()):
        return None
    for unknown in _unknowns(derivation, found):
        try:
            conditions = _solved(list(found.times.values()), unknown)
        except SymscaleError:
            continue
        if any(case.intervals and not case.always for each in conditions for case in each.cases):
            return Regimes(found, unknown, conditions)
    return None


def _unknowns(derivation: Derivation, found: Compared) -> Sequence[sp.Symbol]:
    solved = [each.lhs for step in derivation.steps if step.kind == "solve" for each in step.equations]
    names = [name for each in solved for name in sorted(each.as_numer_denom()[0].free_symbols, key=str)]
    used = {name for each in found.times.values() for name in each.free_symbols}
    return [each for each in dict.fromkeys([*names, symbol("B")]) if each in used][:2]


def _solved(times: Sequence[sp.Expr], unknown: sp.Symbol) -> tuple[Condition, ...]:
    pairs = combinations(times, 2)
    relations = [Relation(one, ">=", other) for one, other in pairs]
    return tuple(Condition(each, crossover(each.lhs, each.op, each.rhs, unknown).cases) for each in relations)
