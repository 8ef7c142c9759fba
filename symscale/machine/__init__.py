"""Chips and networks: exact numbers with their sources."""

import sys
from types import ModuleType

from symscale.machine.cluster import cluster
from symscale.machine.library import generic_network, known_machines, load_machine, machine, machines
from symscale.machine.model import Fact, Level, Machine, Network, Wrap, wraps
from symscale.machine.slices import Slice, chosen, from_file, parse_slice, sliced

__all__ = [
    "Fact",
    "Level",
    "Machine",
    "Network",
    "Slice",
    "Wrap",
    "chosen",
    "cluster",
    "from_file",
    "generic_network",
    "known_machines",
    "load_machine",
    "machine",
    "machines",
    "parse_slice",
    "sliced",
    "wraps",
]


class _Package(ModuleType):
    """`from symscale import machine` gives this package; called, it looks a chip, a slice or a cluster up."""

    def __call__(self, name: str) -> Machine:
        return chosen(name) or machine(name)


sys.modules[__name__].__class__ = _Package
