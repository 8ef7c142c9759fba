"""Operations of a compiled module as text, Markdown and LaTeX: what they are, their times, a measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from math import prod

import sympy as sp

from symscale.collectives import Kind
from symscale.frozen import dataclass
from symscale.hlo import Contraction, Module, Roofline, Setting, Shape, Work, roofline, together, total, work_of
from symscale.hlo.collective import Sent
from symscale.hlo.sharding import Sharding, sharding_of
from symscale.notation.numbers import format_number, format_percent, format_quantity
from symscale.report.grid import Column, grid

ARRAYS = tuple(
    Column(head, right)
    for head, right in (
        ("array", False),
        ("shape", False),
        ("major to minor", False),
        ("tiles", False),
        ("padded to", False),
        ("bytes", True),
        ("padding", True),
        ("memory", False),
    )
)
FACTS = (Column(""), Column(""))
OPS = tuple(
    Column(head, head not in ("op", "what", "bound"))
    for head in ("op", "what", "times", "FLOPs", "bytes", "V", "time", "share", "bound")
)
WORDS = {"compute": "compute", "HBM": "HBM", "VMEM": "VMEM", "network": "the network"}


@dataclass(frozen=True)
class Profile:
    """A module's work, its lower bounds on a machine (if one is named), and a measured time [s].

    `time` is their sum, one operation after the other; `needs` is how long each resource is in use, and the longest of
    these is a lower bound where everything overlaps.
    """

    module: Module
    works: tuple[Work, ...]
    lines: tuple[Roofline, ...]
    setting: Setting | None
    measured: sp.Expr | None
    rows: int = 30
    mesh: Mapping[str, int] = field(default_factory=dict)
    time: sp.Expr = sp.S.Zero
    needs: Mapping[str, sp.Expr] = field(default_factory=dict)

    @property
    def least(self) -> sp.Expr:
        """The lower bound with everything overlapped [s]."""
        return max(self.needs.values(), default=sp.S.Zero)

    @property
    def flops(self) -> int:
        """The FLOPs of all of it."""
        return sum(each.flops * each.times for each in self.works)


def profile(
    module: Module, mesh: dict[str, int], setting: Setting | None, measured: sp.Expr | None, rows: int
) -> Profile:
    """Return what a module does and, on a machine, how long that takes at least. Raises SymscaleError."""
    works = work_of(module, mesh)
    lines = tuple(roofline(each, setting) for each in works) if setting is not None else ()
    return Profile(module, works, lines, setting, measured, rows, mesh, total(lines), together(lines))


def hlo_report(found: Profile, style: str) -> str:
    """Return a module as `text`, `md` or `latex`: one operation in detail, or a table of several with totals."""
    made = _one(found, style) if len(found.works) == 1 else _several(found, style)
    split = shardings(found)
    if split:
        made.append(_filled("Sharded arrays", _SPLIT, [_split(*each) for each in split], style))
    return "\n\n".join(made)


_SPLIT = (
    Column("array"),
    Column("on one chip"),
    Column("parts"),
    Column("over"),
    Column("copies", True),
    Column("whole"),
)


def shardings(found: Profile) -> list[tuple[str, Shape, Sharding]]:
    """Return the arrays of the entry that are split over devices. Raises NotationError."""
    lines = found.module.main.instructions.values()
    both = [
        (each.name, each.results[0], sharding_of(found.module.text, each, found.mesh)) for each in lines if each.results
    ]
    return [(name, shape, split) for name, shape, split in both if split is not None]


def _split(name: str, shape: Shape, split: Sharding) -> tuple[str, ...]:
    whole = ",".join(map(str, split.whole(shape.dims)))
    parts, over = " x ".join(map(str, split.parts)), ", ".join("".join(axes) or "-" for axes in split.axes)
    return name, shape.text, parts, over if any(split.axes) else "", str(split.copies), f"{shape.dtype}[{whole}]"


def _one(found: Profile, style: str) -> list[str]:
    (work,) = found.works
    arrays = [(f"operand {n}", each) for n, each in enumerate(work.shapes, 1)]
    results = work.instruction.results
    arrays += [("result" if len(results) == 1 else f"result {n}", each) for n, each in enumerate(results, 1)]
    cells = [_array(name, shape) for name, shape in arrays if shape.bits]
    made = [_filled(f"{work.instruction.name}: {what(work)}", ARRAYS, cells, style)]
    facts = _facts(work)
    if found.lines:
        facts += _times(found, found.lines[0])
    notes = found.lines[0].notes if found.lines else work.notes
    on = f"On {found.setting.machine.title}" if found.setting is not None else "What it does"
    made.append(grid(on, FACTS, facts, style, notes=notes))
    return made


def _filled(
    title: str, columns: Sequence[Column], rows: Sequence[tuple[str, ...]], style: str, notes: Sequence[str] = ()
) -> str:
    """Return a table without the columns that are empty in every row."""
    kept = [n for n in range(len(columns)) if any(row[n] for row in rows)]
    return grid(title, [columns[n] for n in kept], [[row[n] for n in kept] for row in rows], style, notes=notes)


def _array(name: str, shape: Shape) -> tuple[str, ...]:
    tiles = "".join(f"({','.join('*' if size < 0 else str(size) for size in tile)})" for tile in shape.tiles)
    padded = f"[{','.join(map(str, shape.padded))}]" if shape.waste else ""
    order = ",".join(map(str, reversed(shape.order)))
    share = f"{format_percent(shape.waste)} ({format_number(1 / (1 - shape.waste), 3)}x)" if shape.waste else ""
    return name, shape.text, order, tiles, padded, format_quantity(sp.Integer(shape.held), "B"), share, shape.where


def what(work: Work) -> str:
    """Return in a few words what an instruction is: its contraction, its collective, or its operation."""
    words = [f"{each.contraction.program or 'convolution with a sliding window'}" for each in work.products]
    if len(words) > 2:
        words = [f"{len(words)} contractions"]
    if work.sent is not None:
        words.append(f"{work.sent.kind} over {work.sent.chips}")
    return "; ".join(words) or work.instruction.op


def _facts(work: Work) -> list[tuple[str, str]]:
    found = []
    for each in work.products:
        one = each.contraction
        if one.program:
            sizes = ", ".join(f"{name}={size}" for name, size in one.sizes.items())
            found.append(("contraction", f"{one.program}, with {sizes}"))
        else:
            found.append(("convolution", "its window slides: FLOPs count its places inside the input"))
        found.append(("FLOPs", format_quantity(sp.Integer(one.flops), "FLOP")))
        if one.summed:
            found.append(
                ("in a profile", f"{one.exact_flops:,}: a sum of {_summed(one)} products takes one addition less")
            )
    if work.sent is not None:
        found += _sent(work.sent)
    found.append(("reads and writes", format_quantity(sp.Integer(work.bytes), "B")))
    if work.flops and work.bytes:
        found.append(("intensity", f"{format_number(sp.Rational(work.flops, work.bytes))} FLOP/B"))
    name = work.instruction.attributes.get("metadata", "")
    if 'op_name="' in name:
        found.append(("from", name.split('op_name="')[1].split('"')[0]))
    return found


def _summed(one: Contraction) -> str:
    return f"{prod(one.sizes[name] for name in one.summed):,}"


def _sent(sent: Sent) -> list[tuple[str, str]]:
    found = [("collective", f"{sent.kind}, V = {format_quantity(sp.Integer(sent.volume), 'B')} {_volume(sent.kind)}")]
    words = f"{sent.chips} devices"
    if sent.groups:
        words = f"{len(sent.groups)} of {words}"
        words += f", {sent.apart} apart" if sent.apart else ""
    if sent.axes:
        words += f": the mesh axis {', '.join(sent.axes)}" if len(sent.axes) == 1 else f": axes {', '.join(sent.axes)}"
    found.append(("pairs" if sent.pairs else "groups", words if not sent.pairs else f"{len(sent.pairs)} sends"))
    return found


def _volume(kind: Kind) -> str:
    return "sent by a chip" if kind is Kind.Permute else "(the whole array over its axes)"


def _times(found: Profile, line: Roofline) -> list[tuple[str, str]]:
    facts = [(f"T_{name.lower()}", _seconds(spent)) for name, spent in line.parts.items()]
    if line.network:
        facts = [(name, f"{value} ({line.network})" if name == "T_network" else value) for name, value in facts]
    for kind, rate in line.peaks.items():
        facts.append(("peak", f"{format_quantity(rate, 'FLOP/s')} in {kind}"))
    if line.bound:
        facts.append(("roofline", f"at least {_seconds(line.time)}: {WORDS[line.bound]} binds"))
    return facts + _measured(found)


def _measured(found: Profile) -> list[tuple[str, str]]:
    """Return the distance of a measurement to the lower bound, and the model FLOPs utilisation."""
    if found.measured is None:
        return []
    said = (
        f"{format_percent(found.time / found.measured)} of the roofline" if found.time else "nothing to compare it with"
    )
    facts = [("measured", f"{_seconds(found.measured)}: {said}")]
    if found.time != found.least:
        facts = [
            ("measured", f"{_seconds(found.measured)}: {said}s in turn"),
            ("", f"{format_percent(found.least / found.measured)} of the bound with all overlapped"),
        ]
    if found.flops:
        facts.append(("MFU", format_percent(utilised(found, found.measured))))
    if found.least > found.measured:
        facts.append(
            ("so", "faster than the bound: another chip, dtype or network, arrays in VMEM, or a part of the time only")
        )
    return facts


def utilised(found: Profile, measured: sp.Expr) -> sp.Expr:
    """Return the model FLOPs utilisation of a module in a measured time."""
    return sp.Add(*(each.utilisation(measured) * each.work.times for each in found.lines))


def _seconds(spent: sp.Expr) -> str:
    return format_quantity(spent, "s")


def _several(found: Profile, style: str) -> list[str]:
    order = list(range(len(found.works)))
    heavy = sorted(order, key=lambda n: -_weight(found, n))[: found.rows]
    cells = [_row(found, n) for n in sorted(heavy)]
    left = len(order) - len(heavy)
    moved = sum(each.bytes * each.times for each in found.works)
    spent = [_seconds(found.time), "100 %" if found.time else "", ""] if found.lines else ["", "", ""]
    flops = format_quantity(sp.Integer(found.flops), "FLOP")
    cells.append(("total", f"{len(order)} operations", "", flops, format_quantity(sp.Integer(moved), "B"), "", *spent))
    notes = list(dict.fromkeys(note for each in found.lines or found.works for note in _notes(each)))
    if left:
        notes.insert(0, f"{left} operations that take less are in the total only; --rows {len(order)} shows all.")
    on = f" on {found.setting.machine.title}" if found.setting is not None else ""
    made = [_filled(f"{found.module.name}{on}", OPS, cells, style, notes)]
    facts = _together(found)
    if facts:
        made.append(grid("Together", FACTS, facts, style))
    return made


def _notes(each: Roofline | Work) -> tuple[str, ...]:
    return each.notes


def _together(found: Profile) -> list[tuple[str, str]]:
    if not found.lines:
        return []
    spent = dict.fromkeys(WORDS, sp.S.Zero)
    for line in found.lines:
        if line.bound:
            spent[line.bound] += line.time * line.work.times
    if not found.time:
        return []
    longest = max(found.needs, key=found.needs.__getitem__)
    facts = [("in turn", f"{_seconds(found.time)}, one operation after the other at its roofline")]
    facts.append(("overlapped", f"at least {_seconds(found.least)}: {WORDS[longest]} binds"))
    facts += [
        (f"bound by {WORDS[name]}", f"{_seconds(value)}, {format_percent(value / found.time)}")
        for name, value in spent.items()
        if value
    ]
    return facts + _measured(found)


def _weight(found: Profile, n: int) -> sp.Expr:
    if found.lines:
        return found.lines[n].time * found.lines[n].work.times
    return sp.Integer(found.works[n].bytes * found.works[n].times)


def _row(found: Profile, n: int) -> tuple[str, ...]:
    work = found.works[n]
    flops = format_quantity(sp.Integer(work.flops), "FLOP") if work.flops else ""
    sent = format_quantity(sp.Integer(work.sent.volume), "B") if work.sent is not None else ""
    cells = (
        work.instruction.name,
        what(work),
        str(work.times),
        flops,
        format_quantity(sp.Integer(work.bytes), "B"),
        sent,
    )
    if not found.lines:
        return (*cells, "", "", "")
    line = found.lines[n]
    share = format_percent(line.time * work.times / found.time) if found.time else ""
    return (*cells, _seconds(line.time), share, line.bound)
