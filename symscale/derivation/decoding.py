"""What tensor parallelism sends in a decode step: the collectives of a residual branch, on a slice or a cluster."""

from __future__ import annotations

from math import prod

import sympy as sp

from symscale.cost import times
from symscale.derivation.layer import lay
from symscale.machine import Machine
from symscale.machine.cluster import chips_of
from symscale.notation.elaborate import elaborate
from symscale.solve import Limit, approximate
from symscale.transformer import Config
from symscale.vocabulary import symbol

#: A branch reads the residual, split over all chips, as a whole, and adds its own sum to it.
BRANCH = "x[B, D_{{{axes}}}] -> g[B, D]; o[B, D]{{U_{{{axes}}}}} -> y[B, D_{{{axes}}}]"
NAMES = "YZX"


def chips_in(chip: Machine, text: str) -> int:
    """Return how many chips `tpu-v5e:4x4` or `h100:8` has; a bare name is one chip."""
    main = chip.main_network
    if ":" not in text or main is None:
        return 1
    return prod(main.pod) if main.kind == "torus" else int(chips_of(main))


def branches(config: Config) -> sp.Expr:
    """Return how many residual branches a step runs through: two per layer, one where a norm serves both.

    The collectives of a branch are an AllGather and a ReduceScatter of its activations.
    """
    return symbol("L") * (1 if config.norms_per_layer == 1 else 2)


def step_network(config: Config, chip: Machine, chips: int) -> sp.Expr:
    """Return how long the collectives of a decode step over B sequences take on all chips of a slice [s].

    Weights split over all axes, activations in bf16; hops count where the chip's file states T_hop. Embeddings, logits
    and the exchange of caches and experts are left out.
    """
    main = chip.main_network
    if chips == 1 or main is None:
        return sp.S.Zero
    sizes = [size for size in main.pod if size > 1] if main.kind == "torus" else [chips]
    mesh = {name: sp.Integer(size) for name, size in zip(NAMES, sizes, strict=False)}
    return branches(config) * _branch(mesh, chip, main.hop_time is not None)


def pointless_network(config: Config, chip: Machine) -> sp.Expr | None:
    """Return the same on a slice of many chips that uses every physical axis of the chip [s]; None without a network.

    The bytes of a chip do not shrink with the slice, so there is a size from which on they take longer than HBM.
    """
    main = chip.main_network
    if main is None:
        return None
    length = symbol("Y")
    axes = {"Y": sp.Integer(main.axes)} if main.kind == "torus" else {}
    exact = _branch({"Y": length}, chip, False, axes)
    found = approximate(exact, [Limit(sp.S.One, (length,))]).approximate if length in exact.free_symbols else exact
    return branches(config) * found


def _branch(
    mesh: dict[str, sp.Expr], chip: Machine, latency: bool, placement: dict[str, sp.Expr | str] | None = None
) -> sp.Expr:
    text = BRANCH.format(axes=",".join(mesh))
    layer = lay(
        elaborate(text, mesh=mesh), machine=chip, passes=("forward",), latency=latency, placement=placement or {}
    )
    found = times(list(layer.costs.values()), layer.kinds, layer.axes, overlap="max", latency=latency).comms
    return found.xreplace(dict(layer.typed.numbers))
