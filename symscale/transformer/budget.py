"""What a training step holds on a chip, line by line, and what fits: the content of `symscale memory`."""

from __future__ import annotations

from collections.abc import Mapping, Set

import sympy as sp

from symscale.frozen import dataclass
from symscale.machine import Machine
from symscale.machine.shapes import most_chips
from symscale.notation.numbers import format_number, format_quantity
from symscale.solve import Relation
from symscale.transformer.fit import (
    Job,
    checked,
    fewest_chips,
    fewest_microbatches,
    largest_batch,
    largest_length,
    largest_of_family,
    largest_parameters,
    least_chips,
)
from symscale.transformer.meshes import ORDER
from symscale.transformer.offload import activations_bandwidth, optimizer_hides
from symscale.transformer.parameters import active_count, collected, parameter_count
from symscale.transformer.pipeline import MICROBATCHES, RULES
from symscale.transformer.strategy import size
from symscale.vocabulary import symbol

CHIPS = symbol("N_chips")
P, P_ACTIVE, B, M_HBM, W_PCIE = map(symbol, ("P", "P_active", "B", "M_hbm", "W_pcie"))


@dataclass(frozen=True)
class Line:
    """A part of the memory: its closed form in the axes in use, and its number [B]."""

    name: str
    form: sp.Expr
    bytes: sp.Expr


@dataclass(frozen=True)
class Answer:
    """What fits, or hides: a question, the answer in words, its value (None: nothing does) and a closed form."""

    name: str
    words: str
    value: sp.Expr | None = None
    relation: Relation | None = None


@dataclass(frozen=True)
class Budget:
    """The memory of a chip by part, what fits into the memory of a machine, and what hides behind PCIe."""

    job: Job
    machine: Machine | None
    lines: tuple[Line, ...]
    fitting: tuple[Answer, ...]
    moving: tuple[Answer, ...]

    @property
    def total(self) -> sp.Expr:
        """All that a chip holds [B]."""
        return sp.Add(*(line.bytes for line in self.lines))

    @property
    def fits(self) -> bool | None:
        """Whether that fits; None where no machine is named."""
        return None if self.job.room is None else bool(self.total <= self.job.room)

    @property
    def title(self) -> str:
        """What was asked."""
        job, setting = self.job, self.job.setting
        where = f" of {self.machine.title}" if self.machine is not None else ""
        used = ", ".join(f"{axis} {job.mesh[axis]}" for axis in ORDER if job.mesh.get(axis, 1) > 1)
        return (
            f"{job.config.name} on {job.chips:,} {'chip' if job.chips == 1 else 'chips'}{where}"
            f"{f' ({used})' if used else ''}: {setting.tokens:,} tokens per step, sequences of {setting.length:,}"
        )

    @property
    def notes(self) -> list[str]:
        """What the numbers assume."""
        setting = self.job.setting
        between = "split over tensor" if setting.sequence else "whole on every chip of tensor"
        between = f"positions between sublayers {between}, " if self.job.mesh.get("tensor", 1) > 1 else ""
        away = f" On the host: {', '.join(setting.offloaded)}." if setting.offloaded else ""
        pipe = f"; {RULES[setting.schedule].title}, the {self.job.busiest} stage" if len(self.job.stages) > 1 else ""
        return [
            f"Arrays in {setting.dtype}, gradients in {setting.gradients or setting.dtype}, optimizer "
            f"{setting.optimizer}, ZeRO-{setting.zero} over the copies of each weight, checkpointing {setting.remat}, "
            f"{between}{_times(self.job.microbatches)}{pipe}.{away} Of gathered "
            f"weights the largest two pieces lie beside the rest, logits and their gradients in fp32. Buffers of "
            f"communication, the context of the device and fragmentation are not counted: leave --reserve for them.",
            *self._beyond(),
        ]

    def _beyond(self) -> list[str]:
        """Say where a mesh has more chips than one network of the machine joins."""
        most = most_chips(self.machine) if self.machine is not None else 0
        if self.machine is None or not most or self.job.chips <= most:
            return []
        return [
            f"The main network of {self.machine.title} joins {most:,} {'chip' if most == 1 else 'chips'}: "
            f"{self.job.chips:,} are several such parts, joined by another network."
        ]


def _times(count: int) -> str:
    return "one microbatch" if count == 1 else f"{count:,} microbatches"


def budget(job: Job, machine: Machine | None) -> Budget:
    """Return the memory of a job and what fits. Raises ModelError for a mesh that does not divide model and batch."""
    checked(job)
    numbers, forms = job.numbers, job.forms
    lines = tuple(Line(name, _shown(form, job), numbers[name]) for name, form in forms.items() if numbers[name] != 0)
    return Budget(job, machine, lines, _fitting(job) if job.room is not None else (), _moving(job, machine))


def _shown(form: sp.Expr, job: Job) -> sp.Expr:
    """Return a form in the axes in use; of the terms of a Max the one that is the largest here."""
    point = job.point
    form = form.xreplace({each: _largest(each, point) for each in form.atoms(sp.Max)})
    ones = {size(axis): sp.S.One for axis in ORDER if job.mesh.get(axis, 1) == 1}
    ones |= {MICROBATCHES: sp.S.One} if job.microbatches == 1 else {}
    found = form.xreplace(ones)
    found = found.xreplace({each: sp.S.One for each in found.atoms(sp.Min) if sp.S.One in each.args})
    held = {each: symbol(f"_{at}") for at, each in enumerate(sorted(found.atoms(sp.Min, sp.ceiling), key=str))}
    layers = {name for each, name in held.items() if isinstance(each, sp.ceiling)}
    return _grouped(found.xreplace(held), layers).xreplace({name: each for each, name in held.items()})


def _grouped(form: sp.Expr, layers: Set[sp.Symbol]) -> sp.Expr:
    """Return a sum with the terms together that the same axes split, and those of a stage's `layers`."""
    axes = {size(axis) for axis in ORDER} | layers
    groups: dict[sp.Expr, list[sp.Expr]] = {}
    for term in sp.Add.make_args(sp.expand(form)):
        split = sp.Mul(*(each for each in sp.Mul.make_args(term) if each.free_symbols <= axes and not each.is_number))
        groups.setdefault(split, []).append(term / split)
    return sp.Add(*(collected(sp.Add(*terms)) * split for split, terms in groups.items()))


def _largest(found: sp.Max, point: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    return max(found.args, key=lambda each: each.xreplace(dict(point)))


def _fitting(job: Job) -> tuple[Answer, ...]:
    found = [_microbatches(job), _batch(job), _length(job), _chips(job)]
    if job.config.experts is None:
        found.append(_parameters(job))
    return (*found, *_family(job))


def _microbatches(job: Job) -> Answer:
    count = fewest_microbatches(job)
    words = f"{count:,}" if count else "none: one sequence at a time is too much"
    return Answer("fewest microbatches", words, sp.Integer(count) if count else None)


def _batch(job: Job) -> Answer:
    border, whole = largest_batch(job)
    words = f"{whole:,} tokens a step, {whole // job.setting.length:,} sequences" if whole else "none"
    exact = None if border is None else f" (exactly B <= {format_number(border, 6)})"
    return Answer("largest batch", f"{words}{exact or ''}", sp.Integer(whole) if whole else None)


def _length(job: Job) -> Answer:
    _, whole = largest_length(job)
    words = f"{whole:,} tokens, with as many sequences a step" if whole else "none"
    return Answer("longest sequence", words, sp.Integer(whole) if whole else None)


def _chips(job: Job) -> Answer:
    axis, length, chips = fewest_chips(job)
    (case,) = least_chips(job.setting).cases
    form = case.intervals[0].lo
    least = form.xreplace({**job.point, P: sp.Integer(parameter_count(job.config)), M_HBM: job.room})
    words = f"{chips:,}, with {axis} = {length:,}" if length else f"none: no size of {axis} that divides makes it fit"
    words += f"; the states alone need {max(int(sp.ceiling(least)), 1):,}"
    return Answer("fewest chips", words, sp.Integer(chips) if length else None, Relation(CHIPS, ">=", form))


def _parameters(job: Job) -> Answer:
    (case,) = largest_parameters(job.setting).cases
    form = case.intervals[0].hi
    ones = {size(axis): sp.S.One for axis in ORDER if job.mesh.get(axis, 1) == 1}
    number = sp.floor(form.xreplace({**job.point, M_HBM: job.room}))
    words = f"{format_number(number, 4)} parameters by their states alone"
    return Answer("largest model", words, number, Relation(P, "<=", sp.factor(form.xreplace(ones))))


def _family(job: Job) -> tuple[Answer, ...]:
    found = largest_of_family(job)
    if found is None:
        return ()
    sizes = ", ".join(f"{name} = {value:,}" for name, value in found.sizes.items())
    words = f"{format_number(sp.Integer(found.parameters), 4)} parameters: {sizes}"
    return (Answer("largest of this shape", words, sp.Integer(found.parameters)),)


def _moving(job: Job, machine: Machine | None) -> tuple[Answer, ...]:
    """Return when offloaded states and activations hide behind the arithmetic, where the chip states its PCIe."""
    width = _pcie(machine)
    if machine is None or width is None or job.setting.dtype not in dict(machine.peaks):
        return ()
    known = {symbol("C"): machine.peak(job.setting.dtype), W_PCIE: width}
    return (*_optimizer(job, known), _activations(job, known))


def _pcie(machine: Machine | None) -> sp.Expr | None:
    found = [each.one_way for each in machine.networks if each.name == "pcie"] if machine is not None else []
    return found[0] if found else None


def _optimizer(job: Job, known: Mapping[sp.Symbol, sp.Expr]) -> list[Answer]:
    ones = {size(axis): sp.S.One for axis in ORDER if job.mesh.get(axis, 1) == 1}
    counts = {P: sp.Integer(parameter_count(job.config)), P_ACTIVE: sp.Integer(active_count(job.config))}
    share = P_ACTIVE / P if job.config.experts is not None else sp.S.One
    found = []
    for where, on_host in (("on the host", True), ("on the chip", False)):
        (case,) = optimizer_hides(job.setting, on_host=on_host, active=share).cases
        form = case.intervals[0].lo
        tokens = form.xreplace({**job.point, **known, **counts})
        verdict = "hides" if job.setting.tokens >= tokens else "does not hide"
        words = f"{verdict}: {job.setting.tokens:,} tokens here, and the border is {format_number(tokens, 4)}"
        relation = Relation(B, ">=", form.xreplace(ones))
        found.append(Answer(f"optimizer state, updated {where}", words, tokens, relation))
    return found


def _activations(job: Job, known: Mapping[sp.Symbol, sp.Expr]) -> Answer:
    form = activations_bandwidth(job)
    ones = {size(axis): sp.S.One for axis in ORDER if job.mesh.get(axis, 1) == 1}
    needed = form.xreplace({**job.point, **known})
    verdict = "hides" if known[W_PCIE] >= needed else "does not hide"
    here, border = (format_quantity(each, "B/s", 4) for each in (known[W_PCIE], needed))
    words = f"{verdict}: PCIe has {here}, and the border is {border}"
    return Answer("activations, kept on the host", words, needed, Relation(W_PCIE, ">=", form.xreplace(ones)))
