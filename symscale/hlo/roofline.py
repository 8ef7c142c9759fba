"""How long the work of an instruction takes at least on a chip, and how far a measurement is from that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy as sp

from symscale.array.dtypes import wider
from symscale.collectives import AxisOn, Kind, cost, lies, total_time
from symscale.errors import MachineError
from symscale.frozen import dataclass
from symscale.hlo.collective import Sent
from symscale.hlo.placing import Setting, check_axes, placed
from symscale.hlo.sends import busiest
from symscale.hlo.work import Product, Work
from symscale.machine import Machine

HBM, VMEM = 0, 1


@dataclass(frozen=True)
class Roofline:
    """The times of one instruction, once, on each resource that it needs [s]; the largest is a lower bound.

    `peaks` are the peak rates that its products run at, by dtype.
    """

    work: Work
    parts: Mapping[str, sp.Expr]
    peaks: Mapping[str, sp.Rational]
    network: str
    notes: tuple[str, ...]

    @property
    def time(self) -> sp.Expr:
        """The lower bound: the longest of the times, all of them at once [s]."""
        return max(self.parts.values(), default=sp.S.Zero)

    @property
    def bound(self) -> str:
        """The resource that takes the longest, "" where nothing does."""
        return max(self.parts, key=self.parts.__getitem__) if self.time > 0 else ""

    def reached(self, measured: sp.Expr) -> sp.Expr:
        """Return the lower bound over a measured time: 1 is the roofline."""
        return self.time / measured

    def utilisation(self, measured: sp.Expr) -> sp.Expr:
        """Return the model FLOPs utilisation: the time of the arithmetic at the peak over a measured time."""
        return self.parts.get("compute", sp.S.Zero) / measured


def roofline(work: Work, setting: Setting) -> Roofline:
    """Return how long an instruction takes at least. Raises MachineError for a rate that the chip lacks.

    Compute: FLOPs over the peak of the wider operand's dtype. HBM and VMEM: bytes of operands and results there,
    padding included, over the bandwidth. Network: the collective on its axes, a permute by
    its busiest link. A collective's own HBM traffic does not count.
    """
    check_axes(setting)
    notes: list[str] = []
    parts: dict[str, sp.Expr] = {}
    peaks: dict[str, sp.Rational] = {}
    for each in work.products:
        kind, rate = _peak(each, setting.machine, notes)
        peaks[kind] = rate
        parts["compute"] = parts.get("compute", sp.S.Zero) + sp.Rational(each.contraction.flops) / rate
    if work.sent is None or work.products:
        parts |= _memory(work, setting.machine, notes)
    network = ""
    if work.sent is not None:
        spent, network = _network(work.sent, setting)
        parts["network"] = spent
    return Roofline(work, parts, peaks, network, (*work.notes, *notes))


def _peak(each: Product, machine: Machine, notes: list[str]) -> tuple[str, sp.Rational]:
    """Return the dtype and the peak rate of a product: the wider operand's, else that of bf16, said."""
    kind = wider(each.left.peak or None, each.right.peak or None) or ""
    known = dict(machine.peaks)
    if kind in known:
        return kind, known[kind]
    if "bf16" not in known:
        return kind, machine.peak(kind or each.left.dtype)
    notes.append(f"{machine.title} states no peak for {kind or each.left.dtype}: that of bf16 is taken.")
    return "bf16", known["bf16"]


def _memory(work: Work, machine: Machine, notes: list[str]) -> dict[str, sp.Expr]:
    """Return the times of HBM and VMEM."""
    moved = {
        space: sum(each.held for each in (*work.reads, *work.writes) if each.space == space) for space in (HBM, VMEM)
    }
    found: dict[str, sp.Expr] = {}
    if moved[HBM]:
        if machine.hbm_bandwidth is None:
            raise MachineError(
                f"{machine.title} has no HBM bandwidth.", hint="State bandwidth in its file, section [hbm]."
            )
        found["HBM"] = moved[HBM] / machine.hbm_bandwidth
    if moved[VMEM]:
        rate = machine.cores.get("W_scratchpad")
        if rate is None:
            notes.append(f"No bandwidth of the VMEM of {machine.title} is known: arrays in it take no time here.")
        else:
            found["VMEM"] = moved[VMEM] / rate
    return found


def _network(sent: Sent, setting: Setting) -> tuple[sp.Expr, str]:
    """Return the time of a collective, and where its axes lie."""
    if sent.kind is not Kind.Permute and sent.chips == 1:
        return sp.S.Zero, ""
    where = placed(sent, setting)
    over = tuple(where.axes[name] for name in where.over)
    lies_on = "; ".join(_lies(axis) for axis in over if axis.size != 1)
    if sent.kind is Kind.Permute:
        spent, shared = busiest(sent, where)
        return spent, "; ".join(word for word in (lies_on, shared) if word)
    found = cost(sent.kind, sp.Integer(sent.volume), over)
    return total_time(found, latency=setting.latency), lies_on


def _lies(axis: AxisOn) -> str:
    return f"{axis.name}: {axis.size} chips on {lies(axis)}"


def together(lines: Sequence[Roofline]) -> dict[str, sp.Expr]:
    """Return how long instructions need each resource [s]; the longest is a lower bound however they overlap."""
    found: dict[str, list[sp.Expr]] = {}
    for each in lines:
        for name, spent in each.parts.items():
            found.setdefault(name, []).append(spent * each.work.times)
    return {name: sp.Add(*parts) for name, parts in found.items()}


def total(lines: Sequence[Roofline]) -> sp.Expr:
    """Return the time of instructions that run one after the other [s]."""
    return sp.Add(*(each.time * each.work.times for each in lines))
