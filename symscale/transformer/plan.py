"""Plans: every feasible mesh of a cluster for a model's training step, evaluated at once, the fastest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

import sympy as sp

from symscale.errors import MachineError, ModelError
from symscale.frozen import dataclass
from symscale.machine import Machine
from symscale.quantity.grid import evaluate
from symscale.transformer.config import Attention, Config
from symscale.transformer.meshes import ORDER, Limits, Sizes, UnitCosts, limits, meshes, microbatches, placed
from symscale.transformer.parts import FIRST, LAST, ONLY, UNEVEN
from symscale.transformer.pipeline import MICROBATCHES
from symscale.transformer.setting import Setting
from symscale.transformer.step import StepForm, step_form
from symscale.transformer.strategy import size
from symscale.vocabulary import symbol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Columns = Mapping[str, "NDArray[np.float64] | float"]


@dataclass(frozen=True)
class Planned:
    """One mesh: sizes by axis, microbatches, and what a step takes.

    `seconds` of a step and `exposed` of one in which no network hides, `mfu` the part of the peak that the model's own
    FLOPs use; `memory` of the `stage` that holds the most and `times` by part and resource, [B] and [s]; `binds` is the
    resource that takes the longest.
    """

    sizes: Mapping[str, int]
    microbatches: int
    seconds: float
    exposed: float
    mfu: float
    memory: Mapping[str, float]
    times: Mapping[str, float]
    binds: str
    bubble: float
    uneven: sp.Rational
    point: Mapping[sp.Symbol, sp.Expr] = field(repr=False)
    heads: str = "K"
    stage: str = ONLY

    @property
    def bytes(self) -> float:
        """What a chip holds [B]."""
        return sum(self.memory.values())

    @property
    def chips(self) -> int:
        """The number of chips."""
        return int(sp.prod(self.sizes.values()))


@dataclass(frozen=True)
class Plans:
    """The best meshes, how many were compared and how many fit, and the closed forms they are values of."""

    best: tuple[Planned, ...]
    compared: int
    fitting: int
    smallest: Planned | None
    forms: Mapping[str, StepForm] = field(repr=False)
    cluster: Machine = field(repr=False)


def plan(config: Config, setting: Setting, cluster: Machine, chips: int, *, top: int = 10, reserve: float = 0) -> Plans:
    """Return the fastest meshes of `chips` chips that fit into memory; a part `reserve` of it stays free.

    Raises ModelError if no mesh divides the model and the batch, MachineError if none can be laid on the cluster.
    """
    room = _room(cluster, reserve)
    found: list[Planned] = []
    smallest: Planned | None = None
    compared = fitting = 0
    forms: dict[str, StepForm] = {}
    for heads in _heads(config):
        form = step_form(config, setting, heads=heads)
        limit = limits(config, setting.tokens, setting.length, heads)
        table = tabulate(form, limit, cluster, chips, known=_split_evenly(config) if heads == "G" else 0)
        if table is None:
            continue
        forms[heads] = form
        memory = total_memory(form, table.columns)
        seconds, exposed = (evaluate(time, table.columns) for time in (form.total, form.exposed))
        compared += len(seconds)
        fits = memory <= room
        fitting += int(fits.sum())
        order = _ranked(seconds, exposed, fits, top)
        found += [_row(form, table, int(at), config, cluster, chips, heads) for at in order]
        least = _row(form, table, int(memory.argmin()), config, cluster, chips, heads)
        smallest = least if smallest is None or least.bytes < smallest.bytes else smallest
    if not compared:
        raise _none(config, setting, cluster, chips)
    fastest = min((each.seconds for each in found), default=1.0)
    found.sort(key=lambda each: (round(each.seconds / fastest, 6), each.exposed))
    return Plans(tuple(found[:top]), compared, fitting, smallest, forms, cluster)


@dataclass(frozen=True)
class Table:
    """Meshes with their microbatches, one a row, as columns of numbers by symbol."""

    rows: Sequence[tuple[Sizes, int]]
    columns: Columns


def tabulate(form: StepForm, limit: Limits, cluster: Machine, chips: int, *, known: int = 0) -> Table | None:
    """Return the table of all meshes that the limits and the cluster allow, or None if there are none.

    Sizes of `tensor` that divide `known` key/value heads are left out: there replicating these heads only costs more.
    """
    import numpy as np

    rows: list[tuple[Sizes, int]] = []
    networks = UnitCosts(cluster)
    costs: dict[str, list[float | None]] = {str(name): [] for name in form.units}
    for sizes in meshes(chips, limit):
        by_axis = dict(zip(ORDER, sizes, strict=True))
        if known and known % by_axis["tensor"] == 0:
            continue
        places = placed(sizes, cluster)
        if places is None:
            continue
        unit_costs = {str(name): networks.of(use, places) for name, use in form.units.items()}
        if None in unit_costs.values():
            continue
        replicas = by_axis["data"] * by_axis["fsdp"] * by_axis["expert"]
        for count in microbatches(limit.sequences // replicas):
            rows.append((sizes, count))
            for name, value in unit_costs.items():
                costs[name].append(value)
    if not rows:
        return None
    columns: dict[str, Any] = {name: np.array(values) for name, values in costs.items()}
    table = np.array([sizes for sizes, _ in rows], dtype=np.float64)
    columns |= {str(size(axis)): table[:, at] for at, axis in enumerate(ORDER)}
    columns[str(MICROBATCHES)] = np.array([count for _, count in rows], dtype=np.float64)
    pipe = columns[str(size("pipe"))]
    columns[str(UNEVEN)] = np.ceil(limit.layers / pipe) * pipe / limit.layers
    return Table(rows, {**columns, **rates(cluster, form.dtype)})


def rates(cluster: Machine, dtype: str) -> dict[str, float]:
    """Return C and W_hbm of a cluster's chip. Raises MachineError if it has none."""
    constants = cluster.constants(dtype)
    missing = [name for name in ("C", "W_hbm", "M_hbm") if name not in constants]
    if missing:
        raise MachineError(f"{cluster.title} has no {missing[0]}.", hint="Give it in the machine's file.")
    return {name: float(constants[name]) for name in ("C", "W_hbm")}


def total_memory(form: StepForm, columns: Columns) -> NDArray[np.float64]:
    """Return what a chip of the stage that holds the most holds in every row [B]."""
    import numpy as np

    only, first, last = (evaluate(sp.Add(*form.memory[stage].values()), columns) for stage in (ONLY, FIRST, LAST))
    return np.where(np.asarray(columns[str(size("pipe"))]) == 1, only, np.maximum(first, last))


def _split_evenly(config: Config) -> int:
    return config.attention.K if isinstance(config.attention, Attention) else 0


def _room(cluster: Machine, reserve: float) -> float:
    if not 0 <= reserve < 1:
        raise ModelError(f"A part {reserve} of the memory cannot stay free.", hint="Give a number from 0 to below 1.")
    capacity = cluster.hbm_capacity
    if capacity is None:
        raise MachineError(f"{cluster.title} has no memory size.", hint="State capacity in its file, section [hbm].")
    return float(capacity) * (1 - reserve)


def _heads(config: Config) -> tuple[str, ...]:
    """Tensor parallelism splits key/value heads; or, with those replicated, the queries of each."""
    attention = config.attention
    grouped = isinstance(attention, Attention) and attention.N_heads > attention.K
    return ("K", "G") if grouped else ("K",)


def _ranked(seconds: NDArray[np.float64], exposed: NDArray[np.float64], fits: NDArray[np.bool_], top: int) -> list[int]:
    """Return the fitting rows by their time, to six digits, and then by what they have to hide."""
    import numpy as np

    inside = np.flatnonzero(fits)
    rounded = np.round(seconds[inside] / seconds.min(), 6)
    return [int(at) for at in inside[np.lexsort((exposed[inside], rounded))][:top]]


def _row(form: StepForm, table: Table, at: int, config: Config, cluster: Machine, chips: int, heads: str) -> Planned:
    sizes, count = table.rows[at]
    point = {symbol(name): sp.Float(_at(column, at)) for name, column in table.columns.items()}
    seconds = float(form.total.xreplace(point))
    resources = dict.fromkeys(name for each in form.times.values() for name in each)
    times = {name: sum(float(each[name].xreplace(point)) for each in form.times.values()) for name in resources}
    peak = float(cluster.peak(form.dtype))
    pipe = sizes[ORDER.index("pipe")]
    held = {
        stage: {name: float(part.xreplace(point)) for name, part in form.memory[stage].items()}
        for stage in ((ONLY,) if pipe == 1 else (FIRST, LAST))
    }
    stage = max(held, key=lambda each: sum(held[each].values()))
    return Planned(
        dict(zip(ORDER, sizes, strict=True)),
        count,
        seconds,
        float(form.exposed.xreplace(point)),
        float(form.flops) / (seconds * chips * peak),
        held[stage],
        times,
        max(times, key=times.__getitem__),
        (pipe - 1) / (count + pipe - 1),
        sp.Rational(-(-config.L // pipe) * pipe, config.L),
        point,
        heads,
        stage,
    )


def _at(column: NDArray[np.float64] | float, row: int) -> float:
    return column if isinstance(column, float) else float(column[row])


def _none(config: Config, setting: Setting, cluster: Machine, chips: int) -> ModelError:
    limit = limits(config, setting.tokens, setting.length)
    return ModelError(
        f"No mesh of {chips} chips of {cluster.title} divides {config.name}.",
        hint=f"tensor divides {limit.heads} heads and the MLP widths {', '.join(map(str, limit.widths))}, fsdp divides "
        f"D = {limit.rows}, data x fsdp x expert the {limit.sequences:,} sequences of a step, and there are at most "
        f"{limit.layers} stages: give more tokens per batch, or another number of chips.",
    )
