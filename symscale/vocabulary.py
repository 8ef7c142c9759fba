"""The symbol table: the only source of symbols, their meaning, unit, LaTeX and plausible range."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import count
from operator import attrgetter

import sympy as sp

from symscale.frozen import dataclass


@dataclass(frozen=True)
class Entry:
    """One symbol: canonical name, LaTeX, meaning, unit word (`""` is a pure number) and plausible range."""

    name: str
    latex: str
    meaning: str
    unit: str = ""
    low: str = "1"
    high: str = "1e6"


_ENTRIES = (
    # dimensions of arrays
    Entry("B", "B", "batch, in tokens", "", "1", "1e8"),
    Entry("D", "D", "model dimension d_model", "", "64", "1e5"),
    Entry("F", "F", "feed-forward dimension d_ff", "", "64", "1e6"),
    Entry("T", "T", "query length", "", "1", "1e7"),
    Entry("S", "S", "key length", "", "1", "1e7"),
    Entry("L", "L", "number of layers", "", "1", "1000"),
    Entry("H", "H", "head dimension", "", "16", "1024"),
    Entry("K", "K", "key/value heads", "", "1", "1024"),
    Entry("G", "G", "query heads per key/value head, N/K", "", "1", "128"),
    Entry("V", "V", "vocabulary size", "", "1000", "1e6"),
    Entry("E", "E", "number of experts", "", "1", "4096"),
    Entry("k", "k", "active experts per token", "", "1", "64"),
    Entry("N_heads", r"N_\text{heads}", "query heads", "", "1", "1024"),
    Entry("N_chips", r"N_\text{chips}", "number of chips", "", "1", "1e6"),
    # mesh axes
    Entry("X", "X", "size of mesh axis X", "", "1", "1e4"),
    Entry("Y", "Y", "size of mesh axis Y", "", "1", "1e4"),
    Entry("Z", "Z", "size of mesh axis Z", "", "1", "1e4"),
    # machine
    Entry("C", "C", "peak FLOPs per second of one chip", "FLOP/s", "1e12", "1e17"),
    Entry("W", "W", "the bandwidth in play", "B/s", "1e9", "1e14"),
    Entry("W_hbm", r"W_\text{hbm}", "HBM bandwidth of one chip", "B/s", "1e11", "1e14"),
    Entry("W_ici", r"W_\text{ici}", "bandwidth of one physical axis, both directions", "B/s", "1e10", "1e13"),
    Entry("W_link", r"W_\text{link}", "bandwidth of one link, one direction", "B/s", "1e10", "1e13"),
    Entry("W_dcn", r"W_\text{dcn}", "data-centre egress per chip, one direction", "B/s", "1e8", "1e12"),
    Entry("W_nvlink", r"W_\text{nvlink}", "NVLink egress per chip, one direction", "B/s", "1e10", "1e13"),
    Entry("W_ib", r"W_\text{ib}", "scale-out egress per chip, one direction", "B/s", "1e9", "1e12"),
    Entry("W_node", r"W_\text{node}", "egress of a node of a cluster, one direction", "B/s", "1e10", "1e14"),
    Entry("W_leaf", r"W_\text{leaf}", "egress of the nodes behind one layer of leaf switches", "B/s", "1e10", "1e15"),
    Entry("W_pcie", r"W_\text{pcie}", "PCIe bandwidth per chip, one direction", "B/s", "1e9", "1e12"),
    Entry("T_hop", r"T_\text{hop}", "latency of one hop", "s", "1e-7", "1e-3"),
    Entry("M_hbm", r"M_\text{hbm}", "HBM capacity of one chip", "B", "1e9", "1e13"),
    Entry("M_array", r"M_\text{array}", "bytes of an array", "B", "1", "1e13"),
    Entry("b", "b", "bytes per element", "B", "1/2", "8"),
    # results
    Entry("T_math", r"T_\text{math}", "time of the arithmetic", "s", "1e-9", "1e3"),
    Entry("T_comms", r"T_\text{comms}", "time of the communication", "s", "1e-9", "1e3"),
    Entry("T_hbm", r"T_\text{hbm}", "time of the HBM traffic", "s", "1e-9", "1e3"),
    Entry("T_total", r"T_\text{total}", "time of a pass", "s", "1e-9", "1e3"),
    Entry("alpha", r"\alpha", "arithmetic intensity of the machine, C/W", "FLOP/B", "1", "1e6"),
)

TABLE: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}

_numbers = count()


#: The key that sorts symbols by name: as `str` does, which prints them for it.
BY_NAME = attrgetter("name")


@lru_cache(maxsize=65536)
def symbol(name: str) -> sp.Symbol:
    """Return the positive symbol of this name; the same name always gives the same object."""
    return sp.Symbol(name, positive=True)


def fresh(stem: str) -> sp.Symbol:
    """Return a positive symbol that equals no other, for substitutions inside an algorithm."""
    return sp.Symbol(f"_{stem}{next(_numbers)}", positive=True)


def expression(value: sp.Expr | int | float | Fraction) -> sp.Expr:
    """Return a number of Python's as an exact sympy number, an expression as it is; text is refused.

    A float is the decimal it prints as: 0.3 is 3/10. Raises TypeError.
    """
    if isinstance(value, sp.Basic):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise TypeError(f"{value!r} is neither an expression nor a number")
    return sp.Rational(str(value))


def entry(name: str) -> Entry | None:
    """Return the table's row for a canonical name, or None for a name of the user's own."""
    return TABLE.get(name)
