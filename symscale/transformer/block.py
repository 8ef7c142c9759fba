"""A block: a program in our notation with named weights, how often it occurs, and what the engine counts in it."""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache

import sympy as sp

from symscale.array import Program
from symscale.array.element import Elements, elements, local_elements
from symscale.cost import PassCost, tally
from symscale.frozen import dataclass
from symscale.notation.elaborate import elaborate
from symscale.partition import Plan, partition
from symscale.transformer.config import FULL
from symscale.vocabulary import symbol

#: Dimensions that are made of others: query heads per key/value head, and tokens that reach one expert when the
#: router spreads them evenly. A dimension of a second name with the same size is the image of an embedding.
SIZES = {
    "G": symbol("N_heads") / symbol("K"),
    "M": symbol("k") * symbol("B") / symbol("E"),
}


@dataclass(frozen=True)
class Block:
    """One program of a model.

    `part` is the row of a table it belongs to, `count` how often it occurs (L, L_moe, 1, …). A program over B runs once
    for all tokens; one over T and S (`over_sequence`) once for every sequence of T tokens, and its `kind` says which
    keys a query sees. `elsewhere` names weights that another block stores; `cached` the arrays that decoding keeps,
    `cache_count` times.
    """

    part: str
    name: str
    text: str
    count: sp.Expr
    over_sequence: bool = False
    kind: str = FULL
    elsewhere: frozenset[str] = field(default_factory=frozenset)
    cached: tuple[str, ...] = ()
    cache_count: sp.Expr = sp.S.Zero


@lru_cache(maxsize=1024)
def program(text: str, sizes: tuple[tuple[str, sp.Expr], ...] = ()) -> Program:
    """Return the program of a block; `sizes` overrides dimensions."""
    return elaborate(text, sizes={**SIZES, **dict(sizes)})


@lru_cache(maxsize=1024)
def planned(text: str, dtype: str = "bf16") -> tuple[Plan, Elements]:
    """Return the plan of a block's program, forward and backward, and its element sizes."""
    made = program(text)
    typed = elements(made, dtype)
    return partition(made, typed=typed), typed


@lru_cache(maxsize=2048)
def counted(text: str, name: str) -> PassCost:
    """Return what the engine counts in one pass of a block's program."""
    plan, typed = planned(text)
    return tally(plan, name, typed, {})


def weights(block: Block, sizes: tuple[tuple[str, sp.Expr], ...] = ()) -> dict[str, sp.Expr]:
    """Return the number of elements of each weight that the block stores."""
    made = program(block.text, sizes)
    found = {}
    for name in made.leaves:
        value = made.values[name]
        if value.role == "weight" and value.layout is not None and name not in block.elsewhere:
            found[name] = local_elements(value.layout, made)
    return found


def parameters(block: Block) -> sp.Expr:
    """Return the number of parameters of one occurrence of a block."""
    return sp.Add(*weights(block).values())


def active_parameters(block: Block) -> sp.Expr:
    """Return the parameters of one occurrence that a token meets: of routed experts k of E."""
    return sp.Add(*weights(block, (("E", symbol("k")),) if "M" in program(block.text).sizes else ()).values())
