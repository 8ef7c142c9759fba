"""The parts of a model on one chip: each sublayer with its footprint, how often a stage runs it, its copies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import sympy as sp

from symscale.frozen import dataclass
from symscale.transformer.config import Config
from symscale.transformer.flops import attended
from symscale.transformer.footprint import Footprint, footprint
from symscale.transformer.setting import Setting
from symscale.transformer.strategy import AXES, Strategy, size
from symscale.transformer.sublayers import Sublayer, sublayers, tied_tables
from symscale.vocabulary import symbol

T, S = symbol("T"), symbol("S")
PIPE = size("pipe")
#: The layers of the busiest stage over L/N_pipe: 1 where the stages divide the layers.
UNEVEN = symbol("uneven")
#: The stages of a pipeline that can hold the most: both ends; a mesh without a pipeline has one stage with all.
ONLY, FIRST, LAST = "only", "first", "last"
Known: TypeAlias = Mapping[sp.Basic, sp.Expr]


@dataclass(frozen=True)
class Part:
    """A sublayer with its footprint."""

    sublayer: Sublayer
    footprint: Footprint

    @property
    def in_layers(self) -> bool:
        """Whether it belongs to the layers, which the stages share, and not to an end of the model."""
        return bool(self.sublayer.count != 1)

    @property
    def share(self) -> sp.Expr:
        """How often the busiest stage runs it: its part of the layers, or once."""
        return self.sublayer.count * UNEVEN / PIPE if self.in_layers else self.sublayer.count

    @property
    def replicas(self) -> sp.Expr:
        """How many chips hold the same weights; experts are not copied over `expert`."""
        mesh = self.footprint.mesh
        copies = ("data", "context") if "M" in self.sublayer.program.sizes else ("data", "context", "expert")
        return sp.Mul(*(size(axis) for axis in copies if axis in mesh))

    def flops(self, name: str, setting: Setting) -> sp.Expr:
        """Return the FLOPs of a pass on one chip, with the keys that the mask leaves."""
        kind = self.sublayer.kind
        keys = attended(kind, causal=setting.causal) / T if kind else T
        return self.footprint.flops[name].xreplace({S: keys})


def strategy_of(config: Config, setting: Setting, heads: str = "K") -> Strategy:
    """Return the strategy over all axes that a model can use."""
    axes = tuple(axis for axis in AXES if axis != "expert" or config.experts is not None)
    return Strategy(axes, heads, setting.sequence)


def parts_of(config: Config, setting: Setting, strategy: Strategy) -> list[Part]:
    """Return the sublayers of a model with what a chip does and holds for each under a strategy."""
    return [_part(each, setting, strategy) for each in sublayers(config)]


def by_stage(parts: Sequence[Part], config: Config, setting: Setting, strategy: Strategy) -> dict[str, list[Part]]:
    """Return what the only stage holds of a model's parts, the first of several, and the last one.

    A tied table is on both ends: the first stage looks tokens up in it, the last one multiplies by it.
    """
    layers = [part for part in parts if part.in_layers]
    ends = [part for part in parts if not part.in_layers]
    tied = [_part(each, setting, strategy) for each in tied_tables(config)]
    return {ONLY: list(parts), FIRST: [*layers, *ends[:-1], *tied], LAST: [*layers, ends[-1]]}


def _part(sublayer: Sublayer, setting: Setting, strategy: Strategy) -> Part:
    return Part(sublayer, footprint(sublayer, strategy, dtype=setting.dtype, remat=setting.remat))


def summed(parts: Sequence[Part], amount: Callable[[Part], sp.Expr], known: Known) -> sp.Expr:
    """Return an amount of every part, as often as the busiest stage runs it, over keys as long as the queries."""
    return sp.expand(sp.Add(*((amount(part) * part.share).xreplace({S: T}).xreplace(known) for part in parts)))
