"""How many parameters a model has: in closed form by part, and as exact integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import sympy as sp

from symscale.transformer.block import Block, active_parameters, parameters
from symscale.transformer.blocks import PARTS, blocks, values
from symscale.transformer.config import Config


def parameter_forms(config: Config) -> dict[str, sp.Expr]:
    """Return the parameters of each part in closed form; parts without any are left out.

    The sizes of the weights of the blocks, times how often each block occurs.
    """
    return dict(_by_part(config, parameters))


def active_forms(config: Config) -> dict[str, sp.Expr]:
    """Return the parameters that one token meets, by part: all, but of routed experts k of E."""
    return dict(_by_part(config, active_parameters))


def parameter_counts(config: Config) -> dict[str, int]:
    """Return the exact number of parameters of each part."""
    return numbers(config, parameter_forms(config))


def parameter_count(config: Config) -> int:
    """Return the exact number of parameters, tied ones once."""
    return sum(parameter_counts(config).values())


def active_count(config: Config) -> int:
    """Return the exact number of parameters that one token meets."""
    return sum(numbers(config, active_forms(config)).values())


def numbers(config: Config, forms: Mapping[str, sp.Expr]) -> dict[str, int]:
    """Return forms with the numbers of a model put in."""
    known = values(config)
    return {part: int(form.xreplace(known)) for part, form in forms.items()}


@lru_cache(maxsize=64)
def _by_part(config: Config, count: Callable[[Block], sp.Expr]) -> dict[str, sp.Expr]:
    found: dict[str, list[sp.Expr]] = {part: [] for part in PARTS}
    for block in blocks(config):
        found[block.part].append(block.count * count(block))
    summed = {part: collected(sp.Add(*terms)) for part, terms in found.items()}
    return {part: form for part, form in summed.items() if form != 0}


def collected(form: sp.Expr) -> sp.Expr:
    """Return a sum with what all terms share in front: L*(…)."""
    return sp.factor_terms(sp.expand(form)) if form.is_Add else form
