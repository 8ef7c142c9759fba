"""Chips and networks: exact numbers with their sources."""

from symscale.machine.library import generic_network, load_machine, machine, machines
from symscale.machine.model import Fact, Level, Machine, Network, Wrap, wraps
from symscale.machine.slices import Slice, parse_slice

__all__ = [
    "Fact",
    "Level",
    "Machine",
    "Network",
    "Slice",
    "Wrap",
    "generic_network",
    "load_machine",
    "machine",
    "machines",
    "parse_slice",
    "wraps",
]
