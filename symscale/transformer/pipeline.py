"""Pipeline schedules as data: which task each stage runs when, what it waits for, and how long the whole takes.

A schedule is one rule. Every stage does some forwards to warm up, then one forward and one backward in turn, then the
backwards that are left. Two numbers say the rest: how many forwards warm a stage up, and how many backwards a stage's
weight gradients lag behind its input gradients. GPipe warms up with all microbatches, 1F1B with as many as there are
stages below, zero-bubble schedules put the weight gradients that lag into what would be the bubble.

    p stages, m microbatches, v chunks of layers per stage; s is the stage, from 0
    F forward, B gradient of the input, W gradient of the weights, of one microbatch in one chunk

Durations t_F, t_B, t_W are those of one microbatch in one stage, so a chunk takes 1/v of them. t_P2P is what a
boundary activation travels; sending keeps no stage busy.

GPipe: Huang et al. 2019. 1F1B: Narayanan et al. 2019 (PipeDream-Flush). Interleaved: Narayanan et al. 2021
(Megatron-LM). ZB-H1, ZB-H2: Qi et al. 2023 (Zero Bubble Pipeline Parallelism).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property, lru_cache

import sympy as sp

from symscale.errors import LayoutError
from symscale.frozen import dataclass
from symscale.quantity import maximum
from symscale.vocabulary import expression, symbol

STAGES, MICROBATCHES, CHUNKS, STAGE = symbol("p"), symbol("m"), symbol("v"), symbol("s")
T_FORWARD, T_INPUT, T_WEIGHT, T_HOP = symbol("t_F"), symbol("t_B"), symbol("t_W"), symbol("t_P2P")
DURATIONS = (T_FORWARD, T_INPUT, T_WEIGHT, T_HOP)
KINDS = "FBW"
# More tasks than this are not laid out one by one; the closed forms need no layout.
MOST_TASKS = 1_000_000
# With durations that stay symbols: chains no one of which is the longest for all durations.
MOST_CHAINS = 80

Counts = tuple[int, int, int, int]


@dataclass(frozen=True)
class Rule:
    """A kind of schedule, in the symbols p, m, v and s.

    `warmup` is the number of forwards before the first backward is due, `lag` by how many backwards the weight
    gradients are late; `split` says that the gradient of the input leaves a stage before that of its weights is
    computed; `chunked` that a stage holds v chunks of layers instead of one run of them.
    """

    name: str
    title: str
    warmup: sp.Expr
    lag: sp.Expr = sp.S.Zero
    split: bool = False
    chunked: bool = False


_BELOW = STAGES - 1 - STAGE
RULES = {
    rule.name: rule
    for rule in (
        Rule("gpipe", "GPipe", MICROBATCHES),
        Rule("1f1b", "1F1B", _BELOW),
        Rule("interleaved", "Interleaved 1F1B", 2 * _BELOW + (CHUNKS - 1) * STAGES, chunked=True),
        Rule("zb-h1", "Zero bubble, ZB-H1", _BELOW, STAGE, split=True),
        Rule("zb-h2", "Zero bubble, ZB-H2", 2 * _BELOW, 2 * STAGE, split=True),
    )
}


@dataclass(frozen=True)
class Task:
    """The work of one kind (F, B or W) on one microbatch in one chunk; chunk c is on stage c mod p."""

    kind: str
    microbatch: int
    chunk: int


@dataclass(frozen=True)
class Schedule:
    """The order of tasks on each stage; what a task waits for besides follows from `needs`."""

    rule: Rule
    stages: int
    microbatches: int
    chunks: int
    orders: tuple[tuple[Task, ...], ...]

    @cached_property
    def linked(self) -> tuple[tuple[Task, tuple[tuple[Task, bool], ...]], ...]:
        """Every task after all it waits for: with those, and whether each has to travel from another stage."""
        return tuple(_in_turn(self))


def rule_of(name: str) -> Rule:
    """Return the rule of this name; LayoutError lists the names there are."""
    if name not in RULES:
        raise LayoutError(f"No pipeline schedule is called {name!r}.", hint=f"There are: {', '.join(RULES)}.")
    return RULES[name]


def schedule(name: str, stages: int, microbatches: int, chunks: int = 1) -> Schedule:
    """Return a schedule of p stages, m microbatches and v chunks per stage.

    Raises LayoutError for numbers that are not whole and positive, chunks where the kind has none, and for an
    interleaved schedule whose microbatches do not fill whole rounds of p.
    """
    rule = rule_of(name)
    for word, value in (("stages", stages), ("microbatches", microbatches), ("chunks per stage", chunks)):
        _positive(word, value)
    if chunks > 1 and not rule.chunked:
        raise LayoutError(
            f"{rule.title} gives a stage one run of layers, not {chunks} chunks.",
            hint=f"Use chunks=1, or the schedule {next(each.name for each in RULES.values() if each.chunked)}.",
        )
    whole_rounds(rule, stages, microbatches)
    if 3 * stages * microbatches * chunks > MOST_TASKS:
        raise LayoutError(
            f"{stages} stages, {microbatches} microbatches and {chunks} chunks are more than {MOST_TASKS} tasks.",
            hint="Use the closed forms, which need no list of tasks.",
        )
    return _laid_out(rule, stages, microbatches, chunks)


def whole_rounds(rule: Rule, stages: int, microbatches: int) -> None:
    """Raise LayoutError for an interleaved schedule whose microbatches do not fill whole rounds of p."""
    if rule.chunked and microbatches % stages:
        lower = microbatches // stages * stages
        near = f"{lower} or {lower + stages}" if lower else f"{stages}"
        raise LayoutError(
            f"{microbatches} microbatches are no multiple of {stages} stages: an interleaved schedule sends them "
            "through its chunks in rounds of one per stage.",
            hint=f"Use {near} microbatches, or the schedule 1f1b, which takes any number.",
        )


def layers_per_chunk(layers: int, stages: int, chunks: int = 1) -> int:
    """Return how many layers a chunk holds, L/(p·v). Raises LayoutError where the layers do not divide evenly."""
    for word, value in (("layers", layers), ("stages", stages), ("chunks per stage", chunks)):
        _positive(word, value)
    if layers % (stages * chunks):
        raise LayoutError(
            f"{layers} layers do not divide into {stages} stages of {chunks} chunks.",
            hint=f"Let stages × chunks be one of {', '.join(map(str, sp.divisors(layers)))}, or pad with layers.",
        )
    return layers // (stages * chunks)


def makespan(plan: Schedule, durations: Mapping[sp.Symbol, sp.Expr | int] | None = None) -> sp.Expr:
    """Return the time from the first task's start to the last one's end [s]: the longest chain of waiting.

    `durations` replace t_F, t_B, t_W and t_P2P by numbers or expressions; what is left out stays a symbol, and
    t_P2P is 0. With symbols the answer is the Max of the chains that no other one dominates. Raises LayoutError where
    these are too many to be of use.
    """
    given = {T_HOP: sp.S.Zero, **{key: expression(value) for key, value in (durations or {}).items()}}
    spent = [given.get(each, each) for each in DURATIONS]
    if all(each.is_Rational for each in spent):
        return expression(max(_ends(plan, spent).values()))
    lengths = [sp.Add(*(n * t for n, t in zip(each, spent, strict=True))) for each in chains(plan, hops=spent[3] != 0)]
    # hops are whole, tasks are 1/v of a stage
    return maximum(*lengths) if plan.chunks == 1 else maximum(*(sp.expand(each) for each in _per_chunk(plan, spent)))


def span(plan: Schedule, stage: int, durations: Mapping[sp.Symbol, sp.Expr | int]) -> sp.Expr:
    """Return the time from a stage's first task to the end of its last one, for numbers t_F, t_B, t_W and t_P2P [s]."""
    spent = [expression(durations.get(each, 0)) for each in DURATIONS]
    ends, order = _ends(plan, spent), plan.orders[stage]
    return expression(ends[order[-1]] - ends[order[0]]) + spent[0] / plan.chunks


def _per_chunk(plan: Schedule, spent: list[sp.Expr]) -> list[sp.Expr]:
    parts = [*(each / plan.chunks for each in spent[:3]), spent[3]]
    found = chains(plan, hops=spent[3] != 0)
    return [sp.Add(*(n * t for n, t in zip(each, parts, strict=True))) for each in found]


def chains(plan: Schedule, *, hops: bool = True) -> frozenset[Counts]:
    """Return the longest chains of waiting tasks, as numbers of F, B, W and hops; no one is dominated by another."""
    through: dict[Task, frozenset[Counts]] = {}
    for task, waits in plan.linked:
        before = {_and_hop(each, hops and travels) for other, travels in waits for each in through[other]}
        own = KINDS.index(task.kind)
        through[task] = _undominated({_more(each, own) for each in before or {(0, 0, 0, 0)}})
        if len(through[task]) > MOST_CHAINS:
            raise LayoutError(
                f"More than {MOST_CHAINS} chains of {plan.rule.title} could be the longest, each for some durations.",
                hint="Give t_F, t_B, t_W and t_P2P as numbers, or use fewer stages and microbatches.",
            )
    return _undominated({each for order in plan.orders for each in through[order[-1]]})


def in_flight(plan: Schedule, stage: int) -> sp.Rational:
    """Return the most microbatches whose activations a stage holds at once, in units of a whole stage's activations.

    A forward stores them, the gradient of the weights frees them: what a split backward frees early is not counted.
    """
    held = most = 0
    for task in plan.orders[stage]:
        held += {"F": 1, "B": 0, "W": -1}[task.kind]
        most = max(most, held)
    return sp.Rational(most, plan.chunks)


def needs(plan: Schedule, task: Task) -> tuple[tuple[Task, bool], ...]:
    """Return what a task waits for besides its stage, and whether it comes from another stage.

    F waits for F of the chunk before; B for its own F and for the gradient from the chunk after, which is there
    when that chunk's B has run (split) or its W (not split); W waits for its own B.
    """
    number, chunk, away = task.microbatch, task.chunk, plan.stages > 1
    if task.kind == "F":
        return ((Task("F", number, chunk - 1), away),) if chunk else ()
    if task.kind == "W":
        return ((Task("B", number, chunk), False),)
    own = (Task("F", number, chunk), False)
    if chunk == plan.stages * plan.chunks - 1:
        return (own,)
    return own, (Task("B" if plan.rule.split else "W", number, chunk + 1), away)


def _positive(word: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | sp.Integer) or value < 1:
        raise LayoutError(
            f"A pipeline cannot have {value} {word}.", hint=f"Give the number of {word} as a whole number from 1."
        )


@lru_cache(maxsize=64)
def _laid_out(rule: Rule, stages: int, microbatches: int, chunks: int) -> Schedule:
    sizes = {STAGES: sp.Integer(stages), MICROBATCHES: sp.Integer(microbatches), CHUNKS: sp.Integer(chunks)}
    orders = []
    for stage in range(stages):
        here = {**sizes, STAGE: sp.Integer(stage)}
        warm, lag = (int(each.xreplace(here)) for each in (rule.warmup, rule.lag))
        orders.append(_order(stages, microbatches, chunks, stage, warm, lag))
    return Schedule(rule, stages, microbatches, chunks, tuple(orders))


def _order(stages: int, microbatches: int, chunks: int, stage: int, warm: int, lag: int) -> tuple[Task, ...]:
    """Return the tasks of a stage: the warm-up, one forward and one backward in turn, the rest."""
    forward = _visits(stages, microbatches, chunks, stage)
    # backward visits the chunks in the opposite order, each round with the same microbatches
    backward = [(number, (chunks - 1 - chunk // stages) * stages + stage) for number, chunk in forward]
    ahead = min(warm, len(forward))
    found = [Task("F", *each) for each in forward[:ahead]]
    for at, each in enumerate(backward):
        found += [Task("F", *next_one) for next_one in forward[ahead + at : ahead + at + 1]]
        found.append(Task("B", *each))
        found += [Task("W", *backward[at - lag])] if at >= lag else []
    found += [Task("W", *each) for each in backward[max(0, len(backward) - lag) :]]
    return tuple(found)


def _visits(stages: int, microbatches: int, chunks: int, stage: int) -> list[tuple[int, int]]:
    """Return (microbatch, chunk) in the order of a stage's forwards: a round of p goes through each chunk in turn."""
    size = stages if chunks > 1 else microbatches
    rounds = range(0, microbatches, size)
    return [
        (number, chunk * stages + stage)
        for first in rounds
        for chunk in range(chunks)
        for number in range(first, first + size)
    ]


def _in_turn(plan: Schedule) -> list[tuple[Task, tuple[tuple[Task, bool], ...]]]:
    found: list[tuple[Task, tuple[tuple[Task, bool], ...]]] = []
    done: set[Task] = set()
    at = [0] * plan.stages
    total = sum(map(len, plan.orders))
    while len(found) < total:
        before = len(found)
        for stage, order in enumerate(plan.orders):
            while at[stage] < len(order):
                task = order[at[stage]]
                waits = needs(plan, task)
                if not all(other in done for other, _ in waits):
                    break
                above = ((order[at[stage] - 1], False),) if at[stage] else ()
                found.append((task, above + waits))
                done.add(task)
                at[stage] += 1
        if len(found) == before:
            raise LayoutError(
                f"The stages of {plan.rule.title} wait for each other at {total - before} tasks.",
                hint="Correct the rule's warm-up: a stage must have done the forwards that its next backward needs.",
            )
    return found


def _ends(plan: Schedule, spent: list[sp.Expr]) -> dict[Task, Fraction]:
    """Return when each task ends, in Python's exact fractions: sympy's are many times slower."""
    times = [Fraction(int(each.p), int(each.q)) for each in spent]
    own = {kind: time / plan.chunks for kind, time in zip(KINDS, times[:3], strict=True)}
    end: dict[Task, Fraction] = {}
    for task, waits in plan.linked:
        start = max((end[other] + (times[3] if away else 0) for other, away in waits), default=Fraction(0))
        end[task] = start + own[task.kind]
    return end


def _more(counts: Counts, at: int) -> Counts:
    return (*counts[:at], counts[at] + 1, *counts[at + 1 :])  # type: ignore[return-value]


def _and_hop(counts: Counts, travels: bool) -> Counts:
    return _more(counts, 3) if travels else counts


def _undominated(found: set[Counts]) -> frozenset[Counts]:
    kept: list[Counts] = []
    # only a chain with more tasks in all can dominate another
    for each in sorted(found, key=sum, reverse=True):
        a, b, c, d = each
        if not any(a <= e and b <= f and c <= g and d <= h for e, f, g, h in kept):
            kept.append(each)
    return frozenset(kept)
