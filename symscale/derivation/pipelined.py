"""A pipeline schedule on the blackboard: its rule, the chains that end a step, its bubble and what it holds."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import sympy as sp

from symscale.derivation.step import Prose, Step
from symscale.errors import LayoutError, StepError
from symscale.frozen import dataclass
from symscale.notation.order import Order, merge
from symscale.notation.text import relation_text
from symscale.solve.relation import Relation
from symscale.transformer.bubble import (
    PER_STAGE,
    bubble,
    fewest,
    first_idle,
    held,
    hops,
    length,
    longest,
    parts,
    step_time,
    walk,
)
from symscale.transformer.pipeline import (
    CHUNKS,
    DURATIONS,
    MICROBATCHES,
    STAGE,
    STAGES,
    T_HOP,
    Rule,
    Schedule,
    in_flight,
    makespan,
    rule_of,
    schedule,
    span,
)
from symscale.vocabulary import symbol

if TYPE_CHECKING:
    from symscale.derivation.scheduling import Scheduling

Point = dict[sp.Symbol, sp.Rational]
Count = Callable[[Schedule, Point], sp.Expr]
AHEAD, LAG, SHARE, RATIO = symbol("n_ahead"), symbol("n_lag"), symbol("f_bubble"), symbol("r_bubble")

WORDS = {
    "last": "The first microbatch goes down to the last stage, which then works without a pause.",
    "drain": "The first microbatch goes down to the last stage, which works without a pause; the last one comes back.",
    "turn": "The first microbatch goes down and back; the first stage then works without a pause.",
}


@dataclass(frozen=True)
class Pipelined:
    """A schedule in closed form: times of a step and of its bubble [s], and what stage s holds at most.

    `fraction` is the bubble's share of the step, `ratio` its ratio to the work of a stage; `first` is the idle time
    of the first stage [s]; `held` counts microbatches, each with all activations of a stage; `hops` are those that a
    step waits for (None where no closed form is known).
    """

    rule: Rule
    step: sp.Expr
    bubble: sp.Expr
    fraction: sp.Expr
    ratio: sp.Expr
    first: sp.Expr
    held: sp.Expr
    hops: sp.Expr | None


@dataclass(frozen=True)
class Scheduled:
    """Counts in p, m and v: each right side is what schedules with random sizes and durations have."""

    rule: Rule
    counts: tuple[Count, ...]
    hops: bool = False
    name: str = "counted in schedules of random sizes, task by task"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where a schedule has something else."""
        rng = random.Random(seed)
        if len(self.counts) != len(equations):
            raise StepError("A step states more equations than it proves.")
        for _ in range(3):
            plan, point = self._random(rng)
            if any(RATIO in equation.rhs.free_symbols for equation in equations):
                point[RATIO] = _ratio(plan, point)
            for equation, count in zip(equations, self.counts, strict=True):
                found, wanted = equation.rhs.xreplace(point).doit(), count(plan, point)
                if found != wanted:
                    shown = relation_text(equation.lhs, equation.op, equation.rhs)
                    raise StepError(
                        f"A schedule of {plan.stages} stages and {plan.microbatches} microbatches has {wanted}: {shown}"
                    )

    def _random(self, rng: random.Random) -> tuple[Schedule, Point]:
        stages = rng.randint(2, 5)
        chunks = rng.randint(2, 3) if self.rule.chunked else 1
        least = int(fewest(self.rule).xreplace({STAGES: sp.Integer(stages)}))
        more = rng.randint(0, 5) * (stages if self.rule.chunked else 1)
        plan = schedule(self.rule.name, stages, least + more, chunks)
        sizes = {STAGES: stages, MICROBATCHES: least + more, CHUNKS: chunks, STAGE: rng.randrange(stages)}
        times = {each: rng.randint(1, 40) for each in DURATIONS}
        if not self.hops:
            times[T_HOP] = 0
        return plan, {key: sp.Integer(value) for key, value in {**sizes, **times}.items()}


ORDER = Order(
    symbols=tuple(map(str, (MICROBATCHES, CHUNKS, STAGES, *DURATIONS))),
    terms=((frozenset({"t_F"}), frozenset({"t_B"}), frozenset({"t_W"})),),
)


def written(d: Scheduling, name: str, show: str) -> Pipelined:
    """Write what `show` names of a kind of schedule down, and return its closed forms.

    `show` are words of: rule, chains, step, held, hops. Raises LayoutError for an unknown name or word.
    """
    found, steps = pipelined(name)
    words = show.split() or [*steps]
    unknown = [word for word in words if word not in steps]
    if unknown:
        raise LayoutError(f"A pipeline shows no {unknown[0]!r}.", hint=f"It can show: {', '.join(steps)}.")
    d.order = merge(d.order, ORDER)
    for word in words:
        d.steps += steps[word]
    return found


def pipelined(name: str) -> tuple[Pipelined, dict[str, list[Step]]]:
    """Return a kind of schedule in closed form, and the steps that derive it by what they show. Raises LayoutError."""
    rule = rule_of(name)
    spent, idle = step_time(rule), bubble(rule)
    plain = not idle.has(sp.Max)
    found = Pipelined(
        rule,
        spent,
        idle,
        sp.factor(sp.cancel(idle / spent)) if plain else idle / spent,
        sp.factor(sp.cancel(idle / (MICROBATCHES * PER_STAGE))) if plain else idle / (MICROBATCHES * PER_STAGE),
        first_idle(rule),
        held(rule),
        hops(rule),
    )
    return found, {
        "rule": [_rule_step(rule)],
        "chains": [_chain_step(rule, chain) for chain in longest(rule)],
        "step": [_step_step(found)] + ([] if plain else [_first_step(found)]),
        "held": [_held_step(found)],
        "hops": [_hops_step(found)] if found.hops is not None else [],
    }


def _conditions(rule: Rule) -> tuple[Relation, ...]:
    least = fewest(rule)
    return (Relation(MICROBATCHES, ">=", least),) if least != 1 else ()


def _rule_step(rule: Rule) -> Step:
    ahead = sp.Min(MICROBATCHES * (CHUNKS if rule.chunked else 1), sp.expand(rule.warmup + 1), evaluate=False)
    equations = [Relation(AHEAD, "==", held(rule) if rule.warmup == MICROBATCHES else ahead)]
    counts: list[Count] = [lambda plan, at: sp.Integer(_before(plan, int(at[STAGE]), "F", "B"))]
    if rule.lag != 0:
        equations.append(Relation(LAG, "==", rule.lag))
        counts.append(lambda plan, at: sp.Integer(_before(plan, int(at[STAGE]), "B", "W") - 1))
    chunks: Prose = (
        ", ",
        CHUNKS,
        " chunks of layers per stage, a round of ",
        STAGES,
        " microbatches through each in turn",
    )
    late: Prose = (
        " The gradient of the input travels on at once; that of the weights comes ",
        LAG,
        " backwards later.",
    )
    reason: Prose = (
        *(STAGES, " stages, ", MICROBATCHES, " microbatches", *(chunks if rule.chunked else ()), "; stage "),
        *(STAGE, " (from 0) starts with ", AHEAD, " forwards, then backward and forward take turns."),
        *(late if rule.split else ()),
    )
    proof = Scheduled(rule, tuple(counts))
    return Step("given", f"The schedule {rule.title}", reason, tuple(equations), (proof,), (), _conditions(rule))


def _before(plan: Schedule, stage: int, kind: str, until: str) -> int:
    """Return how many tasks of a kind a stage does before its first of another."""
    order = [task.kind for task in plan.orders[stage]]
    return order[: order.index(until)].count(kind)


def _chain_step(rule: Rule, chain: str) -> Step:
    found = parts(rule, chain)
    equations = [Relation(symbol(f"T_{part.name}"), "==", part.time(rule)) for part in found]
    counts: list[Count] = [_part_of(chain, part.name) for part in found]
    reason = f"{WORDS[chain]} Every task here waits for the one before it, so a step takes at least their sum."
    title = f"A chain of tasks: {', '.join(part.name for part in found)}"
    proof = Scheduled(rule, tuple(counts))
    return Step("count", title, reason, tuple(equations), (proof,), (), _conditions(rule))


def _part_of(chain: str, part: str) -> Count:
    return lambda plan, at: length({part: walk(plan, chain)[part]}, plan, at)


def _work(at: Mapping[sp.Symbol, sp.Rational]) -> sp.Expr:
    return at[MICROBATCHES] * PER_STAGE.xreplace(dict(at))


def _ratio(plan: Schedule, at: Point) -> sp.Expr:
    return makespan(plan, at) / _work(at) - 1


def _step_step(found: Pipelined) -> Step:
    # the two definitions of a bubble: its ratio to the work, and its share of the step
    share = RATIO / (1 + RATIO) if found.bubble.has(sp.Max) else found.fraction
    named = {symbol("T_step"): found.step, symbol("T_bubble"): found.bubble, RATIO: found.ratio, SHARE: share}
    equations = tuple(Relation(name, "==", value) for name, value in named.items())
    counts: tuple[Count, ...] = (
        makespan,
        lambda plan, at: makespan(plan, at) - _work(at),
        _ratio,
        lambda plan, at: 1 - _work(at) / makespan(plan, at),
    )
    ends = "the chain" if len(longest(found.rule)) == 1 else "the longest of these chains"
    reason: Prose = (
        *(
            f"The step takes as long as {ends}. A stage works for ",
            MICROBATCHES * PER_STAGE,
            " of it, the rest is the ",
        ),
        *("bubble: ", RATIO, " is its ratio to the work, ", SHARE, " its share of the step."),
    )
    proof = Scheduled(found.rule, counts)
    return Step("count", "The step and its bubble", reason, equations, (proof,), (), _conditions(found.rule))


def _first_step(found: Pipelined) -> Step:
    def idle(plan: Schedule, at: Point) -> sp.Expr:
        return span(plan, 0, at) - _work(at)

    reason = (
        "Its span, from its first task to its last, beside its work. Where the next step's first forwards may start "
        "before the last stage has ended this one, this is what a step loses."
    )
    equation = Relation(symbol("T_first"), "==", found.first)
    title = "How long the first stage is idle"
    return Step("count", title, reason, (equation,), (Scheduled(found.rule, (idle,)),), (), _conditions(found.rule))


def _held_step(found: Pipelined) -> Step:
    reason = "Forwards before the first gradient of weights, which frees activations; in activations of a whole stage."
    equation = Relation(symbol("m_held"), "==", found.held)
    counts: tuple[Count, ...] = (lambda plan, at: in_flight(plan, int(at[STAGE])),)
    proof = Scheduled(found.rule, counts)
    return Step("count", "Microbatches that stage s holds at most", reason, (equation,), (proof,))


def _hops_step(found: Pipelined) -> Step:
    def waited(plan: Schedule, at: Point) -> sp.Expr:
        return (makespan(plan, at) - makespan(plan, {**at, T_HOP: sp.S.Zero})) / at[T_HOP]

    again = STAGE in found.rule.warmup.free_symbols
    reason: Prose = ("The longest chain goes to the last stage and back.",)
    if again:
        first = (
            " The first stage holds no more than ",
            STAGES,
            " microbatches: it waits for a round trip before the next ",
        )
        reason = (*reason, *first, STAGES, ".")
    equation = Relation(symbol("n_hops"), "==", found.hops)
    proof = Scheduled(found.rule, (waited,), hops=True)
    return Step("count", "Hops between stages that a step waits for, if none overlaps", reason, (equation,), (proof,))
