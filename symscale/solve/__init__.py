"""Crossovers, optima, regimes and approximations of posynomials in positive symbols."""

from symscale.solve.approximate import approximate, approximate_relation
from symscale.solve.conjunction import alike, compatible, conjunction
from symscale.solve.crossover import crossover
from symscale.solve.integers import best_integers, integers_in
from symscale.solve.limits import Approximation, Limit
from symscale.solve.optimum import Optimum, minimise
from symscale.solve.regimes import Regime, dominant, largest, regimes, simplify_max, smallest
from symscale.solve.relation import Case, Interval, Relation, Solution
from symscale.solve.same import same, verify

__all__ = [
    "Approximation",
    "Case",
    "Interval",
    "Limit",
    "Optimum",
    "Regime",
    "Relation",
    "Solution",
    "alike",
    "approximate",
    "approximate_relation",
    "best_integers",
    "compatible",
    "conjunction",
    "crossover",
    "dominant",
    "integers_in",
    "largest",
    "minimise",
    "regimes",
    "same",
    "simplify_max",
    "smallest",
    "verify",
]
