"""A training step of a whole model in closed form: the time of each resource, the bubble, and the memory of a chip.

The symbols are those of the mesh (N_data, N_fsdp, …), the number of microbatches m, C and W_hbm, and one unit cost
for every kind of collective over every set of axes [s/B]: what the network takes for a byte of V. The busiest stage
of the pipeline counts: it has ceil(L/N_pipe) layers and, in this bound, both ends of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import sympy as sp

from symscale.array import ELEMENT_BYTES
from symscale.quantity import maximum
from symscale.transformer.blocks import values
from symscale.transformer.bubble import held, step_time
from symscale.transformer.config import Config
from symscale.transformer.flops import attended
from symscale.transformer.footprint import PASSES, Footprint, Use, footprint
from symscale.transformer.pipeline import MICROBATCHES, RULES, STAGE, STAGES, T_FORWARD, T_INPUT, T_WEIGHT
from symscale.transformer.strategy import AXES, BETWEEN, Strategy, size
from symscale.transformer.sublayers import Sublayer, sublayers
from symscale.vocabulary import symbol

B, T, S, C, W_HBM = map(symbol, ("B", "T", "S", "C", "W_hbm"))
PIPE = size("pipe")
#: The layers of the busiest stage over L/N_pipe: 1 where the stages divide the layers.
UNEVEN = symbol("uneven")
LOGIT_BYTES = 4  # the softmax runs in fp32
#: Bytes of optimizer state per parameter, beside weights and gradients in the arrays' dtype; `adam` keeps an fp32 copy
#: of the weights and two fp32 moments (ZeRO, arXiv:1910.02054, section 3.1), `adam-8bit` moments of one byte.
OPTIMIZERS: Mapping[str, int] = {"adam": 12, "adam-8bit": 6, "adam-no-master": 8, "momentum": 8, "sgd": 4}
Known: TypeAlias = Mapping[sp.Basic, sp.Expr]


@dataclass(frozen=True)
class Setting:
    """How a model is trained: tokens per step B, sequence length T, dtype, checkpointing, optimizer, overlap."""

    tokens: int
    length: int
    dtype: str = "bf16"
    remat: str = "selective"
    optimizer: str = "adam"
    overlap: str = "max"
    schedule: str = "1f1b"
    causal: bool = True


@dataclass(frozen=True)
class StepForm:
    """A step in closed form.

    `times` per pass and resource [s], of all microbatches of the busiest stage, `shares` that of each collective;
    `total` with the bubble, `exposed` if no network hides behind other work [s]; `memory` by part [B]; `units` what
    each symbol of a unit cost stands for; `flops` of the model, without recomputation.
    """

    times: Mapping[str, Mapping[str, sp.Expr]]
    shares: Mapping[str, Mapping[Use, sp.Expr]]
    total: sp.Expr
    exposed: sp.Expr
    memory: Mapping[str, sp.Expr]
    units: Mapping[sp.Symbol, Use]
    flops: sp.Expr
    dtype: str = "bf16"


def unit(use: Use) -> sp.Symbol:
    """Return the symbol of the unit cost of a collective [s/B]."""
    return symbol(f"u_{use.kind}_{'_'.join(use.axes)}")


def step_form(config: Config, setting: Setting, *, heads: str = "K", open_batch: bool = False) -> StepForm:
    """Return a step of a model in closed form, with the model's own sizes as numbers and B too unless `open_batch`."""
    strategy = Strategy(tuple(axis for axis in AXES if axis != "expert" or config.experts is not None), heads)
    parts = [
        Part(each, footprint(each, strategy, dtype=setting.dtype, remat=setting.remat)) for each in sublayers(config)
    ]
    known = {**values(config), B: sp.Integer(setting.tokens), T: sp.Integer(setting.length)}
    known[symbol("b")] = ELEMENT_BYTES[setting.dtype]
    if open_batch:
        del known[B]
    volumes = {name: _volumes(parts, name, strategy, known) for name in PASSES}
    shares = {name: {use: volume * unit(use) for use, volume in each.items()} for name, each in volumes.items()}
    axes = (*strategy.axes, "pipe")
    times = {name: _times(parts, name, shares[name], setting, known, axes) for name in PASSES}
    totals = [_total(times, overlap, setting) for overlap in (setting.overlap, "sum")]
    return StepForm(
        times,
        shares,
        totals[0],
        totals[1],
        _memory(parts, setting, known),
        {unit(use): use for each in volumes.values() for use in each},
        _model_flops(parts, setting, known),
        setting.dtype,
    )


def _total(times: Mapping[str, Mapping[str, sp.Expr]], overlap: str, setting: Setting) -> sp.Expr:
    """Return the time of a step with the bubble of its schedule [s]."""
    passes = [together(times[name], overlap) / MICROBATCHES for name in PASSES]
    busy = dict(zip((T_FORWARD, T_INPUT, T_WEIGHT), passes, strict=True))
    return step_time(RULES[setting.schedule]).xreplace({**busy, STAGES: PIPE})


@dataclass(frozen=True)
class Part:
    """A sublayer with its footprint."""

    sublayer: Sublayer
    footprint: Footprint

    @property
    def share(self) -> sp.Expr:
        """How often the busiest stage runs it: its part of the layers, or once."""
        count = self.sublayer.count
        return count if count == 1 else count * UNEVEN / PIPE

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


def together(times: Mapping[str, sp.Expr], overlap: str) -> sp.Expr:
    """Return the time of a pass from its resources [s]: all at once, networks in turn, or networks not hidden."""
    own = [times["compute"], times["HBM"]]
    networks = [spent for name, spent in times.items() if name not in ("compute", "HBM") and spent != 0]
    if overlap == "sum":
        return maximum(*own) + sp.Add(*networks)
    return maximum(*own, sp.Add(*networks)) if overlap == "axes-serial" else maximum(*own, *networks)


def _summed(parts: Sequence[Part], amount: Callable[[Part], sp.Expr], known: Known) -> sp.Expr:
    return sp.expand(sp.Add(*((amount(part) * part.share).xreplace({S: T}).xreplace(known) for part in parts)))


def _volumes(parts: Sequence[Part], name: str, strategy: Strategy, known: Known) -> dict[Use, sp.Expr]:
    """Return the volumes of a pass over a step; weights move for every microbatch, their sums over replicas once."""
    uses = dict.fromkeys(use for part in parts for use in part.footprint.volumes[name])
    found = {}
    for use in uses:
        volume = _summed(parts, partial(_volume, name, use), known)
        again = use.of == "weight" or (use.of == "gradient" and use.kind == "ReduceScatter")
        found[use] = volume * MICROBATCHES if again else volume
    if name in ("forward", "backward"):
        found[Use("Permute", ("pipe",), "activation")] = _boundary(strategy).xreplace(known)
    return found


def _volume(name: str, use: Use, part: Part) -> sp.Expr:
    return part.footprint.volumes[name].get(use, sp.S.Zero)


def _boundary(strategy: Strategy) -> sp.Expr:
    """Return the bytes of the residual stream on a chip, which a stage passes on [B]."""
    split = [size(axis) for axes in BETWEEN.values() for axis in axes if axis in strategy.axes]
    return symbol("b") * B * symbol("D") / sp.Mul(*split)


def _times(
    parts: Sequence[Part],
    name: str,
    shares: Mapping[Use, sp.Expr],
    setting: Setting,
    known: Known,
    axes: tuple[str, ...],
) -> dict[str, sp.Expr]:
    """Return the time of every resource in a pass [s]; a collective over several axes keeps each of them busy."""
    work = _summed(parts, lambda part: part.flops(name, setting), known)
    weights = _summed(parts, lambda part: part.footprint.hbm[name]["weight"], known)
    rest = _summed(parts, lambda part: part.footprint.hbm[name]["activation"], known)
    found = {"compute": work / C, "HBM": (weights * MICROBATCHES + rest) / W_HBM}
    for axis in axes:
        found[axis] = sp.Add(*(spent for use, spent in shares.items() if axis in use.axes))
    return found


def _memory(parts: Sequence[Part], setting: Setting, known: Known) -> dict[str, sp.Expr]:
    """Return what a chip holds at the worst moment, by part [B]; optimizer state is split over replicas (ZeRO-1)."""
    element = ELEMENT_BYTES[setting.dtype]
    held_at_once = held(RULES[setting.schedule]).xreplace({STAGE: sp.S.Zero}).xreplace({STAGES: PIPE})
    weights = _summed(parts, lambda part: part.footprint.parameters, known)
    extra = [(part.footprint.gathered - part.footprint.parameters).xreplace(known) for part in parts]
    logits = parts[-1].footprint.results.xreplace(known)
    return {
        "weights": element * weights,
        "gradients": element * weights,
        "optimizer": OPTIMIZERS[setting.optimizer]
        * _summed(parts, lambda part: part.footprint.parameters / part.replicas, known),
        "activations": _summed(parts, lambda part: part.footprint.kept, known) * held_at_once / MICROBATCHES,
        "gathered weights": 2 * element * maximum(*extra),
        "logits": 2 * LOGIT_BYTES * logits / MICROBATCHES,
    }


def _model_flops(parts: Sequence[Part], setting: Setting, known: Known) -> sp.Expr:
    """Return the FLOPs of forward and backward pass over all chips."""
    one = {size(axis): sp.S.One for axis in AXES}
    each = [part.sublayer.count * part.flops(name, setting) for part in parts for name in ("forward", "backward")]
    return sp.Add(*each).xreplace(one).xreplace(known).xreplace(known)
