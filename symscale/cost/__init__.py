"""Costs: a plan on a machine in FLOPs, bytes and seconds per resource."""

from symscale.cost.memory import (
    Activations,
    activations,
    everything,
    inputs,
    products,
    recomputing,
    without,
)
from symscale.cost.tally import PassCost, Transfer, held_bytes, local_work, tally
from symscale.cost.times import OVERLAPS, Times, busy_times, loads, peak_symbol, resource_of, times

__all__ = [
    "OVERLAPS",
    "Activations",
    "PassCost",
    "Times",
    "Transfer",
    "activations",
    "busy_times",
    "everything",
    "held_bytes",
    "inputs",
    "loads",
    "local_work",
    "peak_symbol",
    "products",
    "recomputing",
    "resource_of",
    "tally",
    "times",
    "without",
]
