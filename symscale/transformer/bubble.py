"""The time of a pipeline in closed form: three chains of tasks through its schedule, each part counted in p, m and v.

Every stage has n = m·v tasks of each kind, warms up with w_s forwards and lets its weight gradients lag by l_s. Three
chains end a step; the longest one is the step, whatever t_F, t_B and t_W are (tests/ compare with an event simulator):

    last     F of the first microbatch down to the last stage, which then works without a pause to its end
    drain    the same up to its last B, which goes back to the first stage; that one finishes its weight gradients
    turn     F and B of the first microbatch there and back, then the first stage works without a pause to its end

In `drain` the last stage has done n−1−l weight gradients by then (n > l is needed), or all n where a backward is one
task; in `turn` the first stage still has all but w+1 forwards before it, or none. `walk` takes the same chains through
the tasks of a schedule with numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

import sympy as sp

from symscale.errors import StepError
from symscale.frozen import dataclass
from symscale.quantity import maximum
from symscale.transformer.pipeline import (
    CHUNKS,
    MICROBATCHES,
    STAGE,
    STAGES,
    T_FORWARD,
    T_INPUT,
    T_WEIGHT,
    Rule,
    Schedule,
    Task,
    needs,
)
from symscale.vocabulary import fresh

CHAINS = ("last", "drain", "turn")
PER_STAGE = T_FORWARD + T_INPUT + T_WEIGHT


@dataclass(frozen=True)
class Part:
    """A piece of a chain: how many F, B and W tasks it has, each of one chunk."""

    name: str
    forward: sp.Expr
    inputs: sp.Expr
    weights: sp.Expr

    def time(self, rule: Rule) -> sp.Expr:
        """Return the time of the part [s]; a chunk takes 1/v of its stage's time."""
        return sp.factor(self.tasks) / chunks_of(rule)

    @property
    def tasks(self) -> sp.Expr:
        """The time of the part if every task were a whole stage's."""
        return self.forward * T_FORWARD + self.inputs * T_INPUT + self.weights * T_WEIGHT


def chunks_of(rule: Rule) -> sp.Expr:
    """Return the number of chunks per stage: v, or 1 where the rule has none."""
    return CHUNKS if rule.chunked else sp.S.One


def parts(rule: Rule, chain: str) -> tuple[Part, ...]:
    """Return the parts of a chain (last, drain or turn), counted in p, m and v."""
    zero, below, whole = sp.S.Zero, STAGES - 1, MICROBATCHES * chunks_of(rule)
    back = zero if rule.split else below
    fill, busy = Part("fill", below, zero, zero), Part("steady", whole, whole, whole)
    if chain == "last":
        return fill, busy
    if chain == "drain" and not rule.split:
        return fill, busy, Part("drain", zero, below, below)
    if chain == "drain":
        late, left = (rule.lag.xreplace({STAGE: stage}) for stage in (STAGES - 1, zero))
        return fill, Part("steady", whole, whole, whole - 1 - late), Part("drain", zero, below, left + 1)
    early = rule.warmup.xreplace({STAGE: zero}) + 1
    left = maximum(whole - early, zero)
    return (
        Part("fill", STAGES * chunks_of(rule), zero, zero),
        Part("return", zero, below, back),
        Part("steady", left, whole, whole),
    )


def fewest(rule: Rule) -> sp.Expr:
    """Return the fewest microbatches of the closed form: one more than the weight gradients that lag, or one round."""
    return STAGES if rule.chunked else sp.expand(rule.lag.xreplace({STAGE: STAGES - 1}) + 1)


@lru_cache(maxsize=64)
def longest(rule: Rule) -> tuple[str, ...]:
    """Return the chains that no other one exceeds for all p, v ≥ 1 and m ≥ `fewest`."""
    lengths = {chain: _alternatives(rule, chain) for chain in CHAINS}
    kept = list(CHAINS)
    for chain in CHAINS:
        others = [length for other in kept if other != chain for length in lengths[other]]
        if all(any(_never_below(other, length, rule) for other in others) for length in lengths[chain]):
            kept.remove(chain)
    return tuple(kept)


def bubbles(rule: Rule, chains: Sequence[str] = CHAINS) -> list[sp.Expr]:
    """Return by how much the chains that can be the longest exceed the work of one stage, m·(t_F + t_B + t_W) [s]."""
    found = []
    for chain in (each for each in longest(rule) if each in chains):
        mine = _alternatives(rule, chain)
        rest = [each for each in mine if not any(_never_below(o, each, rule) for o in mine if o != each)]
        found += [sp.factor(each - MICROBATCHES * PER_STAGE) for each in rest]
    return found


@lru_cache(maxsize=64)
def bubble(rule: Rule, chains: tuple[str, ...] = CHAINS) -> sp.Expr:
    """Return the idle time of a step beside the work of one stage [s], exact for m ≥ `fewest` and t_P2P = 0."""
    found = bubbles(rule, chains)
    shared = sp.gcd_list(found) if len(found) > 1 else sp.S.One
    return found[0] if len(found) == 1 else shared * maximum(*(sp.factor(each / shared) for each in found))


@lru_cache(maxsize=64)
def first_idle(rule: Rule) -> sp.Expr:
    """Return how long the first stage is idle between its first task and its last [s]: never less than not at all."""
    found = bubble(rule, ("drain", "turn"))
    return found.xreplace({each: maximum(*each.args, sp.S.Zero) for each in found.atoms(sp.Max)})


@lru_cache(maxsize=64)
def step_time(rule: Rule) -> sp.Expr:
    """Return the time of a step [s], exact for m ≥ `fewest` and t_P2P = 0."""
    whole = MICROBATCHES * PER_STAGE + bubble(rule)
    return whole if whole.has(sp.Max) else sp.factor(whole)


def held(rule: Rule) -> sp.Expr:
    """Return the most microbatches stage s holds: the forwards before its first weight gradient, in whole stages."""
    tasks = sp.expand(rule.warmup + 1 + rule.lag)
    whole = MICROBATCHES * chunks_of(rule)
    if tasks - whole == 1:
        return MICROBATCHES
    return sp.Min(whole, tasks, evaluate=False) / chunks_of(rule)


def hops(rule: Rule) -> sp.Expr | None:
    """Return how many hops a step waits for, each t_P2P; None where no closed form is known here.

    The longest chain goes there and back once, 2(p−1) hops. Where a stage holds only as many microbatches as there
    are stages from it to the last (1F1B), the first stage waits for a whole round trip before each next p of them:
    2(p−1) hops for every p, and 2(r−1) for a rest of r. GPipe sends all microbatches before it waits.
    """
    if rule.split or rule.chunked:
        return None
    if STAGE not in rule.warmup.free_symbols:
        return 2 * (STAGES - 1)
    trips = sp.ceiling(MICROBATCHES / STAGES)
    rest = MICROBATCHES - STAGES * (trips - 1) - 1
    return 2 * (STAGES - 1) * trips + 2 * sp.Max(sp.expand(rest - 1), 0, evaluate=False)


def walk(plan: Schedule, chain: str) -> dict[str, list[Task]]:
    """Return the tasks of a chain in a schedule with numbers, by part.

    Raises StepError where one task does not wait for the one before it, or the chain does not exist.
    """
    first, last = plan.orders[0], plan.orders[-1]
    down = [Task("F", 0, chunk) for chunk in range(plan.stages * plan.chunks)]
    if chain == "turn":
        at = next(at for at, task in enumerate(first) if task.kind == "B")
        start = (plan.chunks - 1) * plan.stages
        found = {"fill": down, "return": _backward(plan, 0, start), "steady": [*first[at:]]}
    elif chain == "last":
        found = {"fill": down[: plan.stages - 1], "steady": [*last]}
    else:
        final, end = (max(at for at, task in enumerate(order) if task.kind == "B") for order in (last, first))
        stop = final + 1 if plan.rule.split else len(last)
        rest = first[end + 1 :] if plan.stages == 1 else first[end:]
        found = {"fill": down[: plan.stages - 1], "steady": [*last[:stop]]}
        found["drain"] = [*_backward(plan, plan.microbatches - 1, 0)[1 if plan.rule.split else 2 :], *rest]
        if plan.stages == 1 and not plan.rule.split:
            found["drain"] = []
    _linked(plan, [task for part in found.values() for task in part])
    return found


def _backward(plan: Schedule, microbatch: int, start: int) -> list[Task]:
    """Return the backward tasks of a microbatch from the last stage to the second, chunks `start` and up."""
    chunks = range(start + plan.stages - 1, start, -1)
    kinds = "B" if plan.rule.split else "BW"
    return [Task(kind, microbatch, chunk) for chunk in chunks for kind in kinds]


def _linked(plan: Schedule, chain: Sequence[Task]) -> None:
    above = {after: before for order in plan.orders for before, after in pairwise(order)}
    for before, after in pairwise(chain):
        if above.get(after) != before and before not in [other for other, _ in needs(plan, after)]:
            raise StepError(f"{after} does not wait for {before} in {plan.rule.title}.")


def length(found: Mapping[str, Sequence[Task]], plan: Schedule, durations: Mapping[sp.Symbol, sp.Rational]) -> sp.Expr:
    """Return the time that the tasks of a chain take one after the other [s]."""
    own = {"F": T_FORWARD, "B": T_INPUT, "W": T_WEIGHT}
    return sp.Add(*(durations[own[task.kind]] for part in found.values() for task in part)) / plan.chunks


@lru_cache(maxsize=64)
def _alternatives(rule: Rule, chain: str) -> tuple[sp.Expr, ...]:
    """Return a chain's length; for a Max in it the lengths with each of its arguments."""
    whole = sp.Add(*(part.tasks for part in parts(rule, chain))) / chunks_of(rule)
    inside = sorted(whole.atoms(sp.Max), key=str)
    if not inside:
        return (sp.expand(whole),)
    return tuple(sp.expand(whole.xreplace({inside[0]: argument})) for argument in inside[0].args)


def _never_below(one: sp.Expr, other: sp.Expr, rule: Rule) -> bool:
    """Say whether one ≥ other for all p, v ≥ 1 and m ≥ the fewest: no negative term above those bounds."""
    q, n, u = fresh("q"), fresh("n"), fresh("u")
    more = {MICROBATCHES: fewest(rule) + n}
    beyond = {STAGES: 1 + q, CHUNKS: 1 + u}
    gap = sp.expand((one - other) * chunks_of(rule)).xreplace(more).xreplace(beyond)
    return all(term.as_coeff_Mul()[0] >= 0 for term in sp.Add.make_args(sp.expand(gap)))
