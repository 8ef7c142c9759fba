"""What each collective costs on each network, exactly."""

from symscale.collectives.algorithms import Algorithm, all_reduce, stepwise
from symscale.collectives.cost import bus_factor, cost, point_to_point, total_time
from symscale.collectives.looped import Loop, ring_loop, tile_loop
from symscale.collectives.model import KINDS, AxisOn, Cost, Kind, axis_on
from symscale.collectives.placing import laid, lies, reducing
from symscale.collectives.routing import groups_reached
from symscale.collectives.tree import level_times, nested

__all__ = [
    "KINDS",
    "Algorithm",
    "AxisOn",
    "Cost",
    "Kind",
    "Loop",
    "all_reduce",
    "axis_on",
    "bus_factor",
    "cost",
    "groups_reached",
    "laid",
    "level_times",
    "lies",
    "nested",
    "point_to_point",
    "reducing",
    "ring_loop",
    "stepwise",
    "tile_loop",
    "total_time",
]
