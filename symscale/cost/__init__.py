"""Costs: a plan on a machine in FLOPs, bytes and seconds per resource."""

from symscale.cost.tally import PassCost, Transfer, held_bytes, local_work, tally
from symscale.cost.times import OVERLAPS, Times, busy_times, peak_symbol, resource_of, times

__all__ = [
    "OVERLAPS",
    "PassCost",
    "Times",
    "Transfer",
    "busy_times",
    "held_bytes",
    "local_work",
    "peak_symbol",
    "resource_of",
    "tally",
    "times",
]
