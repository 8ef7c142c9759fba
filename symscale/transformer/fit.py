"""What fits: the memory of a chip solved for the model, the batch, the sequence, the microbatches or the chips."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod

import sympy as sp

from symscale.array import ELEMENT_BYTES
from symscale.array.dtypes import dtype
from symscale.errors import ModelError, SymscaleError
from symscale.frozen import dataclass
from symscale.solve import Solution, crossover
from symscale.transformer.blocks import values
from symscale.transformer.config import Config
from symscale.transformer.memory import memory_forms, state_bytes, states
from symscale.transformer.meshes import ORDER, limits
from symscale.transformer.parts import FIRST, LAST, ONLY, PIPE, UNEVEN
from symscale.transformer.pipeline import MICROBATCHES, layers_per_chunk, rule_of, whole_rounds
from symscale.transformer.setting import B_ELEMENT, Setting
from symscale.transformer.strategy import size
from symscale.vocabulary import symbol

B, T, R, P, M_HBM = map(symbol, ("B", "T", "R", "P", "M_hbm"))
CHIPS, LAYERS = symbol("N_chips"), symbol("L")
#: Nothing larger than this is looked for.
MOST = 2**40


@dataclass(frozen=True)
class Job:
    """A training step whose memory is asked for: model, setting, sizes of the mesh axes, microbatches, memory [B]."""

    config: Config
    setting: Setting
    mesh: Mapping[str, int]
    microbatches: int = 1
    room: sp.Expr | None = None
    heads: str = "K"

    @property
    def chips(self) -> int:
        """The number of chips."""
        return prod(self.mesh.values())

    @property
    def replicas(self) -> int:
        """How many parts the sequences of a batch are split into."""
        return prod(self.mesh.get(axis, 1) for axis in ("data", "fsdp", "expert"))

    @property
    def point(self) -> dict[sp.Symbol, sp.Expr]:
        """The number of every symbol."""
        sizes = {size(axis): sp.Integer(self.mesh.get(axis, 1)) for axis in ORDER}
        batch = {B: sp.Integer(self.setting.tokens), T: sp.Integer(self.setting.length)}
        element = {B_ELEMENT: ELEMENT_BYTES[dtype(self.setting.dtype)], MICROBATCHES: sp.Integer(self.microbatches)}
        return {**values(self.config), **sizes, **batch, **element}

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages of which one holds the most."""
        return (ONLY,) if self.mesh.get("pipe", 1) == 1 else (FIRST, LAST)

    def forms_of(self, stage: str) -> dict[str, sp.Expr]:
        """Return the memory of a chip of a stage by part, in symbols [B]; what is offloaded is not on it.

        Stages that do not divide the layers have ceil(L/N_pipe) of them.
        """
        found = memory_forms(self.config, replace(self.setting, tokens=0, length=0), heads=self.heads, stage=stage)
        whole = self.config.L % self.mesh.get("pipe", 1) == 0
        layers = {UNEVEN: sp.S.One if whole else sp.ceiling(LAYERS / PIPE) * PIPE / LAYERS}
        return {name: form.xreplace(layers) for name, form in found.items() if name not in self.setting.offloaded}

    def held(self, stage: str) -> sp.Expr:
        """Return all that a chip of a stage holds [B]."""
        return sp.Add(*(form.xreplace(self.point) for form in self.forms_of(stage).values()))

    @property
    def busiest(self) -> str:
        """The stage that holds the most."""
        return max(self.stages, key=self.held)

    @property
    def forms(self) -> dict[str, sp.Expr]:
        """The memory of a chip of the stage that holds the most by part, in symbols [B]."""
        return self.forms_of(self.busiest)

    @property
    def numbers(self) -> dict[str, sp.Expr]:
        """The memory of a chip of the stage that holds the most by part [B]."""
        return {name: form.xreplace(self.point) for name, form in self.forms.items()}

    @property
    def total(self) -> sp.Expr:
        """All that a chip of the stage that holds the most holds [B]."""
        return max(map(self.held, self.stages))


def checked(job: Job) -> Job:
    """Return the job if its mesh divides the model and the batch.

    Raises ModelError naming what does not divide, LayoutError if an interleaved schedule cannot run.
    """
    limit = limits(job.config, job.setting.tokens, job.setting.length, job.heads)
    mesh = {axis: job.mesh.get(axis, 1) for axis in ORDER}
    heads = "key/value heads" if job.heads == "K" else "queries per key/value head"
    rules = [
        ("tensor", limit.heads, f"the {limit.heads} {heads}"),
        *(("tensor", width, f"the MLP width {width:,}") for width in limit.widths),
        ("expert", limit.experts, f"the {limit.experts} experts"),
        ("fsdp", limit.rows, f"D = {limit.rows:,}"),
    ]
    for axis, whole, words in rules:
        if whole % mesh[axis]:
            raise ModelError(
                f"The mesh axis {axis} has {mesh[axis]:,} chips and does not divide {words} of {job.config.name}.",
                hint=f"Use a divisor: {_few(whole)}.",
            )
    if limit.length % (mesh["context"] * mesh["tensor"]):
        raise ModelError(
            f"context x tensor = {mesh['context'] * mesh['tensor']:,} does not divide a sequence of {limit.length:,}.",
            hint="Positions are split over both: use a longer sequence or smaller axes.",
        )
    if mesh["pipe"] > limit.layers:
        raise ModelError(
            f"{mesh['pipe']:,} stages for the {limit.layers} layers of {job.config.name}.",
            hint=f"At most one stage for each layer: --mesh pipe={limit.layers} or less.",
        )
    rule = rule_of(job.setting.schedule)
    if rule.chunked:
        layers_per_chunk(limit.layers, mesh["pipe"], job.setting.chunks)
        whole_rounds(rule, mesh["pipe"], job.microbatches)
    parts = job.replicas * job.microbatches
    if limit.sequences % parts:
        raise ModelError(
            f"{limit.sequences:,} sequences do not divide into data x fsdp x expert = {job.replicas:,} parts of "
            f"{job.microbatches:,} microbatches.",
            hint=f"Give a multiple of {parts:,} sequences: --tokens-per-batch {parts * limit.length} or a multiple.",
        )
    return job


def _few(whole: int) -> str:
    found = sp.divisors(whole)
    return ", ".join(map(str, found if len(found) <= 12 else [*found[:11], "…"]))


def largest_parameters(setting: Setting) -> Solution:
    """Return how many parameters P fit by their states alone, in M_hbm and the axes' sizes; experts lie on all chips.

    Adam in 16 bits over N chips of `data`: P <= M/16, M/(4 + 12/N), M/(2 + 14/N), M*N/16 for ZeRO-0 to 3.
    """
    shards = size("fsdp") * size("tensor") * PIPE
    copies = size("data") * size("context")
    held = [held for name, held in states(P / shards, copies, setting).items() if name not in setting.offloaded]
    return crossover(sp.together(sp.Add(*held)), "<=", M_HBM, P)


def least_chips(setting: Setting) -> Solution:
    """Return how many chips P parameters need at least, all states split over all of them: 16·P/M_hbm for Adam."""
    each = sp.Add(*(size for name, size in state_bytes(setting).items() if name not in setting.offloaded))
    return crossover(each * P / CHIPS, "<=", M_HBM, CHIPS)


def largest_batch(job: Job) -> tuple[sp.Expr | None, int]:
    """Return the most tokens of a step that fit, exact and in whole sequences for every microbatch (0: none)."""
    border = _most(job, {}, B)
    unit = job.replicas * job.microbatches * job.setting.length
    return border, (0 if border is None else int(sp.floor(border / unit)) * unit)


def largest_length(job: Job) -> tuple[sp.Expr | None, int]:
    """Return the longest sequence that fits with as many sequences in a step, exact and in whole parts (0: none)."""
    sequences = sp.Rational(job.setting.tokens, job.setting.length)
    border = _most(job, {B: sequences * T}, T)
    unit = job.mesh.get("context", 1) * job.mesh.get("tensor", 1)
    return border, (0 if border is None else int(sp.floor(border / unit)) * unit)


def _most(job: Job, instead: Mapping[sp.Symbol, sp.Expr], unknown: sp.Symbol) -> sp.Expr | None:
    """Return the largest value of `unknown` with which the step fits, or None if none does. Raises ModelError."""
    known = {name: value for name, value in job.point.items() if name != unknown and name not in instead}
    borders = []
    for stage in job.stages:
        forms = job.forms_of(stage).values()
        whole = sp.Add(*(form.xreplace(dict(instead)).xreplace(known).doit() for form in forms))
        solution = crossover(sp.expand(whole), "<=", _room(job), unknown)
        found = [each for case in solution.cases for each in case.intervals]
        if not found:
            return None
        borders.append(found[0].hi)
    return min(borders)


def fewest_microbatches(job: Job) -> int:
    """Return the fewest microbatches with which the step fits, 0 if no number does.

    Activations and logits are those of m-th parts: m >= A/(M - the rest). More than that only gathers weights again.
    """
    sequences = job.setting.tokens // job.setting.length // job.replicas
    rounds = job.mesh.get("pipe", 1) if rule_of(job.setting.schedule).chunked else 1
    tried = (int(count) for count in sp.divisors(sequences) if count % rounds == 0)
    return next((count for count in tried if replace(job, microbatches=count).total <= _room(job)), 0)


def fewest_chips(job: Job) -> tuple[str, int, int]:
    """Return the axis (`fsdp`, then `data` under ZeRO-3), its smallest size that fits, and the chips; sizes 0: none."""
    axis = "data" if job.setting.zero >= 3 and job.mesh.get("fsdp", 1) == 1 else "fsdp"
    sequences = job.setting.tokens // job.setting.length
    others = prod(job.mesh.get(each, 1) for each in ("data", "fsdp", "expert") if each != axis)
    for length in sp.divisors(sequences // (others * job.microbatches)):
        if axis == "fsdp" and job.config.D % length:
            continue
        tried = replace(job, mesh={**job.mesh, axis: int(length)})
        if tried.total <= _room(job):
            return axis, int(length), tried.chips
    return axis, 0, 0


@dataclass(frozen=True)
class Scaled:
    """A model of a family: its sizes, its parameters, and what a chip holds of it [B]."""

    sizes: Mapping[str, int]
    parameters: int
    bytes: sp.Expr


def largest_of_family(job: Job) -> Scaled | None:
    """Return the largest model that fits with the head size, D/L, F/D and queries per key/value head of this one.

    Heads are added until it does not fit; None if even the smallest does not, or layers are of several kinds.
    """
    own = values(job.config)
    if any(str(name).startswith("L_") for name in own):
        return None
    step = _heads_at_once(job)
    fitting = _last(lambda n: _scaled(job, n * step).bytes <= _room(job))
    return _scaled(job, fitting * step) if fitting else None


def _heads_at_once(job: Job) -> int:
    """Return how many heads have to be added together: whole groups for each of `tensor`, and D for each of `fsdp`."""
    own = job.point
    group = int(own[symbol("N_heads")] / own[symbol("K")]) if symbol("K") in own else 1
    step = group * (job.mesh.get("tensor", 1) if job.heads == "K" else 1)
    rows = own[symbol("D")] / own[symbol("N_heads")] * step / job.mesh.get("fsdp", 1)
    return step * int(rows.q)


def _scaled(job: Job, heads: int) -> Scaled:
    from symscale.transformer.parameters import parameter_forms

    point = job.point
    ratio = sp.Rational(heads, point[symbol("N_heads")])
    stages = job.mesh.get("pipe", 1)
    layers = max(int(point[symbol("L")] * ratio) // stages, 1) * stages
    wide = {"D", "F", "F_moe", "F_shared", "N_heads", "K", "R_q", "R_kv", "D_embed"}
    whole = {name: int(value * ratio) for name, value in point.items() if str(name) in wide}
    tensor = job.mesh.get("tensor", 1)
    whole |= {name: value // tensor * tensor for name, value in whole.items() if str(name).startswith("F")}
    made = {
        **point,
        **{name: sp.Integer(max(value, 1)) for name, value in whole.items()},
        symbol("L"): sp.Integer(layers),
    }
    count = sp.Add(*(form.xreplace(made) for form in parameter_forms(job.config).values()))
    held = max(sp.Add(*(form.xreplace(made) for form in job.forms_of(stage).values())) for stage in job.stages)
    sizes = {str(name): int(value) for name, value in made.items() if str(name) in (*wide, "L")}
    return Scaled(sizes, int(count), held)


def _last(fits: Callable[[int], bool]) -> int:
    """Return the largest number from 1 that fits, 0 if 1 does not: what fits, fits with less."""
    if not fits(1):
        return 0
    low, high = 1, 2
    while fits(high):
        low, high = high, 2 * high
        if high > MOST:
            raise SymscaleError("Every size fits: no largest model.", hint="Give a machine with less memory.")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _room(job: Job) -> sp.Expr:
    if job.room is None:
        raise ModelError("What fits depends on a memory size.", hint="Name a chip: --on h100.")
    return job.room
