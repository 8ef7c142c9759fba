"""A training run: the best meshes of a step, their conditions, and what the whole run takes."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from symscale.frozen import dataclass
from symscale.machine import Machine
from symscale.notation.numbers import format_number, format_quantity
from symscale.transformer.conditions import Condition, conditions
from symscale.transformer.config import Config
from symscale.transformer.footprint import POLICIES
from symscale.transformer.pipeline import RULES
from symscale.transformer.plan import Plans, plan
from symscale.transformer.setting import OPTIMIZERS, Setting
from symscale.transformer.step import step_form

#: What the exchange of tokens between experts counts, and by how much less a library can send.
EXCHANGES = (
    "Tokens go to their k experts as k copies, and k results come back, also where several lie on the same chip: one "
    "copy for each chip that a token reaches would be at most min(k, expert) of them."
)
DAY = 86_400
HOUR = 3_600


@dataclass(frozen=True)
class Training:
    """The plans of a model, the conditions of the best one, and totals of a run of so many tokens (0: not asked)."""

    model: str
    setting: Setting
    chips: int
    plans: Plans
    conditions: tuple[Condition, ...]
    totals: Mapping[str, float]
    routed: bool = False

    @property
    def title(self) -> str:
        """What was planned."""
        count = f"{self.chips:,} {'chip' if self.chips == 1 else 'chips'}"
        chip = self.plans.cluster.title.rpartition(", ")
        name = chip[0] if chip[2].split()[-1:] in (["chips"], ["chip"]) else self.plans.cluster.title
        return (
            f"{self.model} on {count} of {name}: "
            f"{self.setting.tokens:,} tokens per step, sequences of {self.setting.length:,}"
        )

    @property
    def notes(self) -> list[str]:
        """What the times assume, how many meshes there were, and the totals."""
        plans, setting = self.plans, self.setting
        hidden = {
            "max": "every network hides behind the arithmetic",
            "axes-serial": "networks take turns and hide behind the arithmetic together",
            "sum": "no network hides",
        }[setting.overlap]
        found = [
            f"{plans.compared:,} meshes compared, {plans.fitting:,} fit into memory. A step is a lower bound in which "
            f'{hidden}, with the bubble of {RULES[setting.schedule].title}; "nothing hidden" adds all networks. '
            f"Weights, gradients and activations in {setting.dtype}, optimizer {setting.optimizer} split over replicas "
            f"(ZeRO-1), checkpointing {setting.remat}, scores {'causal' if setting.causal else 'without a mask'}; "
            f"no straggler, no load imbalance between experts."
        ]
        if not plans.best and plans.smallest is not None:
            least = format_quantity(plans.smallest.bytes, "B", 4)
            found.append(f"None fits: the mesh with the least memory holds {least} a chip. {self.ways_out}")
        if self.routed:
            found.append(EXCHANGES)
        return [*found, *(f"{name}: {_total(name, value)}" for name, value in self.totals.items())]

    @property
    def ways_out(self) -> str:
        """What makes a step hold less that it does not do yet."""
        smallest = min(OPTIMIZERS, key=lambda each: OPTIMIZERS[each])
        tried = [
            "more chips",
            f"--remat {list(POLICIES)[-1]}" if self.setting.remat != list(POLICIES)[-1] else "",
            f"--optimizer adam-8bit or {smallest}"
            if OPTIMIZERS[self.setting.optimizer] > OPTIMIZERS["adam-8bit"]
            else "",
            "fewer tokens per batch, a shorter sequence",
        ]
        return f"Ways out: {', '.join(each for each in tried if each)}."

    @property
    def legend(self) -> list[str]:
        """What the symbols of the conditions mean."""
        small = {f"{use.kind} over {', '.join(use.axes)}" for each in self.conditions for use in each.left_out}
        words = (
            "N_axis is the size of an axis, m the microbatches, u_… what the network takes for a byte of the whole "
            "array in a collective [s/B], such as (X - 1)/(X*W) for an AllGather over X chips. Numbers are those of "
            "the model, to four digits."
        )
        return [words, *([f"Left out, below 1 % of their axis: {'; '.join(sorted(small))}."] if small else [])]


def _total(name: str, value: float) -> str:
    if "USD" in name:
        return f"{format_number(value, 4)} USD"
    if "days" in name or "hours" in name:
        return format_number(value, 4)
    return format_quantity(value, "FLOP", 4) if "FLOPs" in name else format_number(value, 6)


def training(
    config: Config,
    setting: Setting,
    cluster: Machine,
    chips: int,
    *,
    top: int = 10,
    tokens: int = 0,
    reserve: float = 0,
) -> Training:
    """Return the plans of a training run of `tokens` tokens. Raises ModelError and MachineError as `plan` does."""
    plans = plan(config, setting, cluster, chips, top=top, reserve=reserve)
    routed = config.experts is not None
    if not plans.best:
        return Training(config.name, setting, chips, plans, (), {}, routed)
    best = plans.best[0]
    form = step_form(config, setting, heads=best.heads, open_batch=True)
    found = tuple(conditions(form, best, setting.tokens))
    totals: dict[str, float] = {}
    if tokens:
        steps = ceil(tokens / setting.tokens)  # the last one is a whole step too
        seconds = steps * best.seconds
        totals = {
            "steps": steps,
            "model FLOPs": steps * float(plans.forms[best.heads].flops),
            "days": seconds / DAY,
            "chip hours": seconds * chips / HOUR,
        }
        if cluster.price is not None:
            totals["price in USD"] = seconds * chips * float(cluster.price)
    return Training(config.name, setting, chips, plans, found, totals, routed)
