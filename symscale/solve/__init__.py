"""Crossovers, optima, regimes and approximations of posynomials in positive symbols."""

from symscale.solve.crossover import crossover
from symscale.solve.relation import Case, Interval, Relation, Solution
from symscale.solve.same import same, verify

__all__ = ["Case", "Interval", "Relation", "Solution", "crossover", "same", "verify"]
