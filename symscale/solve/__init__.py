"""Crossovers, optima, regimes and approximations of posynomials in positive symbols."""

from symscale.solve.approximate import approximate, approximate_relation
from symscale.solve.crossover import crossover
from symscale.solve.limits import Approximation, Limit
from symscale.solve.optimise import Optimum, best_integers, minimise
from symscale.solve.relation import Case, Interval, Relation, Solution
from symscale.solve.same import same, verify

__all__ = [
    "Approximation",
    "Case",
    "Interval",
    "Limit",
    "Optimum",
    "Relation",
    "Solution",
    "approximate",
    "approximate_relation",
    "best_integers",
    "crossover",
    "minimise",
    "same",
    "verify",
]
