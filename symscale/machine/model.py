"""What a chip is: exact numbers with their sources, and the networks that leave it."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

import sympy as sp

from symscale.errors import MachineError
from symscale.frozen import dataclass
from symscale.shown import Shown

# Network name -> the symbol of its bandwidth. A torus has two: both directions of an axis, and one link.
BANDWIDTH = {"ici": "W_ici", "nvlink": "W_nvlink", "ib": "W_ib", "dcn": "W_dcn", "pcie": "W_pcie"}
LINK = "W_link"
# The parts of a chip, by their name in its file: per chip (cores, cache), or per core.
CORE_SYMBOL = {
    "count": "N_core",
    "clock": "f_clock",
    "lanes": "N_lane",
    "matrix_units": "N_matrix",
    "matrix_flops": "FLOPs_cycle",
    "registers": "M_register",
    "scratchpad": "M_scratchpad",
    "scratchpad_bandwidth": "W_scratchpad",
    "cache": "M_cache",
}
# Networks that join machines built from the others: their levels lie further out.
OUTER = ("ib", "dcn", "pcie")


@dataclass(frozen=True)
class Fact:
    """One value as it was stated: exact number, unit word, source; direction and scope of a bandwidth."""

    value: sp.Rational
    unit: str
    source: str
    direction: str = ""
    per: str = ""
    other: tuple[Fact, ...] = ()


@dataclass(frozen=True)
class Wrap:
    """When a torus axis is a ring: `full` (only at length `of`), `multiple` (of `of`), `always`, `never`."""

    rule: str = "always"
    of: int = 1


@dataclass(frozen=True)
class Level:
    """A level of a fat tree: how many children it joins, and the one-way bandwidth of each child [B/s].

    `symbol` names that bandwidth where the tree is a cluster's network: W_nvlink for a chip's own ports, then
    W_node for the uplinks of a level called node.
    """

    name: str
    size: int
    bandwidth: sp.Rational
    symbol: str = ""


@dataclass(frozen=True)
class Network:
    """A network that leaves the chip: a torus, a switch, or a fat tree of switches (`levels`, from the chips up).

    `one_way` [B/s] is one direction of one link of a torus, and the egress of one chip into a switch; None
    keeps it a symbol. `pod` holds the sizes of a torus's physical axes, `domain` the chips behind one switch,
    `rings` which axes of a slice close (empty: the rule for whole pods decides).
    """

    name: str
    kind: str
    one_way: sp.Rational | None = None
    hop_time: sp.Rational | None = None
    pod: tuple[int, ...] = ()
    wrap: Wrap = Wrap()
    domain: int | None = None
    levels: tuple[Level, ...] = ()
    in_network_reduction: bool = False
    rings: tuple[bool, ...] = ()

    @property
    def axes(self) -> int:
        """The number of physical axes of a torus; 1 for a switch whose size no file gives."""
        return len(self.pod) or 1

    @property
    def both(self) -> sp.Rational | None:
        """Both directions of one physical axis, 2 × one way [B/s]."""
        return None if self.one_way is None else 2 * self.one_way

    @property
    def symbol(self) -> str:
        """The name of the bandwidth's symbol: both directions of an axis (torus), egress one way (switch)."""
        return self.levels[0].symbol if self.kind == "tree" else BANDWIDTH[self.name]

    @property
    def tier(self) -> int:
        """0 for a network between neighbouring chips, 1 for one that joins whole pods or nodes."""
        return int(self.name in OUTER)


@dataclass(frozen=True)
class Machine(Shown):
    """A chip: peak rates by dtype [FLOP/s], its cores, HBM [B/s, B], networks, price [USD/s] and its sources."""

    name: str
    title: str
    peaks: tuple[tuple[str, sp.Rational], ...]
    sparse_peaks: tuple[tuple[str, sp.Rational], ...] = ()
    hbm_bandwidth: sp.Rational | None = None
    hbm_capacity: sp.Rational | None = None
    networks: tuple[Network, ...] = ()
    chips_per_host: int | None = None
    price: sp.Rational | None = None
    aliases: tuple[str, ...] = ()
    facts: tuple[tuple[str, Fact], ...] = ()
    core: tuple[tuple[str, sp.Rational], ...] = ()

    def peak(self, dtype: str, *, sparse: bool = False) -> sp.Rational:
        """Return the peak rate for a dtype [FLOP/s], dense unless `sparse`; MachineError: no such peak."""
        table = dict(self.sparse_peaks if sparse else self.peaks)
        if dtype not in table:
            kind = "structured-sparse peak" if sparse else "peak"
            raise MachineError(
                f"{self.title} has no {kind} for {dtype!r}.",
                hint=f"It has: {', '.join(table) or 'none'}.{did_you_mean(dtype, table)}",
            )
        return table[dtype]

    def network(self, name: str) -> Network:
        """Return the network of this name; MachineError lists what there is."""
        for network in self.networks:
            if network.name == name:
                return network
        names = [network.name for network in self.networks]
        raise MachineError(
            f"{self.title} has no network {name!r}.",
            hint=f"It has: {', '.join(names) or 'none'}.{did_you_mean(name, names)}",
        )

    @property
    def cores(self) -> dict[str, sp.Rational]:
        """What the chip is made of, by the names that formulas use: `N_core`, `f_clock`, `N_lane` and so on."""
        return {CORE_SYMBOL[key]: value for key, value in self.core}

    @property
    def main_network(self) -> Network | None:
        """The network between neighbouring chips (the file's first), or None for a chip that stands alone."""
        return self.networks[0] if self.networks else None

    @property
    def sources(self) -> tuple[tuple[str, str], ...]:
        """Pairs of value and source, in the order of the file."""
        return tuple((key, fact.source) for key, fact in self.facts)

    def constants(self, dtype: str | None = None) -> dict[str, sp.Rational]:
        """Return symbol name → exact number in byte and second, for what this chip has.

        `C` is included when `dtype` is given; `T_hop` is the main network's. MachineError: unknown dtype.
        """
        found: dict[str, sp.Rational | None] = {"C": None if dtype is None else self.peak(dtype)}
        found |= {"W_hbm": self.hbm_bandwidth, "M_hbm": self.hbm_capacity}
        for network in self.networks:
            torus = network.kind == "torus"
            found[network.symbol] = network.both if torus else network.one_way
            if torus:
                found[LINK] = network.one_way
            if network.kind == "tree":
                found |= {level.symbol: level.bandwidth for level in network.levels}
        found["T_hop"] = self.main_network.hop_time if self.main_network else None
        return {name: value for name, value in found.items() if value is not None}

    @property
    def figures(self) -> dict[str, sp.Rational]:
        """Every number of the chip by the name that formulas use, in base units.

        These are `constants`, peaks by dtype (`C_int8`), `cores`, the price, how many chips a host (`N_host`) and a
        whole torus (`N_pod`) have, and how many children a switch of a level of a cluster joins (`D_node`).
        """
        found: dict[str, sp.Rational | int | None] = {f"C_{dtype}": value for dtype, value in self.peaks}
        found |= {**self.constants("bf16" if "bf16" in dict(self.peaks) else None), **self.cores}
        pods = [prod(each.pod) for each in self.networks if each.pod]
        found |= {"N_host": self.chips_per_host, "N_pod": pods[0] if pods else None, "price": self.price}
        trees = [level for each in self.networks if each.kind == "tree" for level in each.levels]
        found |= {f"D_{level.name}": level.size for level in trees}
        return {name: sp.Rational(value) for name, value in found.items() if value is not None}

    def stated_as(self, value: sp.Expr) -> list[str]:
        """Return the names of the peaks and of the HBM's figures that have this value, in one of their sources."""
        names = {"hbm.bandwidth": "W_hbm", "hbm.capacity": "M_hbm"}
        names |= {f"peak.{dtype}": f"C_{dtype}" for dtype, _ in self.peaks}
        return [
            names[key]
            for key, fact in self.facts
            if key in names and value in (fact.value, *(each.value for each in fact.other))
        ]


def wraps(network: Network, size: int | sp.Expr, links: int = 1) -> bool:
    """Say whether a mesh axis of `size` chips over `links` physical axes closes into a ring.

    An axis of 1 or 2 chips never does; a symbolic size is assumed to. A switch has no ends, so it does.
    """
    if network.kind != "torus" or not (isinstance(size, int) or size.is_Integer):
        return True
    number, rule = int(size), network.wrap
    if number <= 2 or rule.rule == "never":
        return False
    if rule.rule == "full":
        return bool(number == rule.of**links)
    return rule.rule == "always" or bool(number % rule.of**links == 0)


def did_you_mean(word: str, options: Iterable[str]) -> str:
    """Return ` Did you mean …?` for the closest spellings of `word`, or an empty string."""
    # Only a failing command pays for this import.
    from difflib import get_close_matches

    if len(word) > 60:
        return ""
    known = {option.lower(): option for option in options}
    close = get_close_matches(word.lower(), list(known), n=3, cutoff=0.55)
    return f" Did you mean {', '.join(known[name] for name in close)}?" if close else ""
