"""Memory of the host: what moves over PCIe for what lies there, when that hides, and how much the host holds.

Optimizer state on the host is updated there: gradients go down, weights come back, once a step. Updated on the chip,
the state itself goes both ways. Activations go down in the forward pass and come back in the backward pass. The two
directions of PCIe work at once, so the busier one counts (ZeRO-Offload, Ren et al. 2021).
"""

from __future__ import annotations

import sympy as sp

from symscale.quantity import maximum
from symscale.solve import Solution, crossover
from symscale.transformer.block import Block, counted, parameters
from symscale.transformer.fit import Job
from symscale.transformer.memory import state_bytes, states
from symscale.transformer.parts import PIPE, parts_of, strategy_of, summed
from symscale.transformer.setting import Setting
from symscale.transformer.strategy import size
from symscale.vocabulary import symbol

B, C, P, W_PCIE = map(symbol, ("B", "C", "P", "W_pcie"))
CHIPS, HOST_CHIPS, W_HOST = symbol("N_chips"), symbol("N_host"), symbol("W_host")
#: The matrix of a model of nothing else, in which FLOPs per parameter and token are counted.
MATRIX = Block("MLP", "matrix", "x[B, D] * W[D, F] -> y[B, F]", sp.S.One)
FP32 = 4


def moved(setting: Setting, *, on_host: bool = True) -> sp.Expr:
    """Return the bytes per parameter that cross PCIe in a step, in the busier direction [B].

    On the host: gradients down or weights up, max(g, b). On the chip: the optimizer state each way, 12 for Adam.
    """
    each = state_bytes(setting)
    return maximum(each["weights"], each["gradients"]) if on_host else each["optimizer"]


def flops_per_parameter() -> sp.Expr:
    """Return the FLOPs of a step per parameter and token: forward and backward of a matrix over its parameters."""
    spent = sp.Add(*(counted(MATRIX.text, name).total_flops for name in ("forward", "backward")))
    return sp.cancel(spent / (parameters(MATRIX) * B))


def optimizer_hides(
    setting: Setting, *, on_host: bool = True, shared: bool = False, active: sp.Expr = sp.S.One
) -> Solution:
    """Return the tokens of a step from which on the optimizer's transfer hides behind the arithmetic.

    6·P·B/(N·C) >= b·P/(N·W_pcie), so B >= b·C/(6·W_pcie) tokens of a whole step where ZeRO splits the state over all
    N chips, and per replica where each keeps its own. `shared`: a host's N_host chips share W_host.
    """
    shards = size("fsdp") * size("tensor") * PIPE
    copies = size("data") * size("context")
    width = W_HOST / HOST_CHIPS if shared else W_PCIE
    share = states(P / shards, copies, setting)["optimizer"] / (state_bytes(setting)["optimizer"] * P)
    math = flops_per_parameter() * active * P * B / (shards * copies * C)
    return crossover(math, ">=", moved(setting, on_host=on_host) * P * share / width, B)


def activations_bandwidth(job: Job) -> sp.Expr:
    """Return the PCIe bandwidth per chip that hides the offload of all kept activations, C·kept/FLOPs [B/s].

    Both grow with the batch, so no batch helps: kept bytes have to leave while the forward pass runs.
    """
    parts = parts_of(job.config, job.setting, strategy_of(job.config, job.setting, job.heads))
    layers = [part for part in parts if part.in_layers]
    kept = summed(layers, lambda part: part.footprint.kept, {})
    flops = summed(layers, lambda part: part.flops("forward", job.setting), {})
    return sp.cancel(kept / flops) * C
