"""What each collective costs on each network, exactly."""

from symscale.collectives.cost import bus_factor, cost, point_to_point, total_time
from symscale.collectives.model import KINDS, AxisOn, Cost, Kind, axis_on
from symscale.collectives.switch import hierarchical, tree

__all__ = [
    "KINDS",
    "AxisOn",
    "Cost",
    "Kind",
    "axis_on",
    "bus_factor",
    "cost",
    "hierarchical",
    "point_to_point",
    "total_time",
    "tree",
]
