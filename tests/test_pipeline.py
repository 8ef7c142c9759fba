"""Pipeline schedules against an event simulator: stages with queues and messages, which knows no closed form."""

from __future__ import annotations

import heapq
import random
from fractions import Fraction
from itertools import count

import pytest
import sympy as sp

from symscale.errors import LayoutError, StepError, SymscaleError
from symscale.transformer.bubble import (
    CHAINS,
    bubble,
    bubbles,
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
    MICROBATCHES,
    RULES,
    STAGE,
    STAGES,
    T_FORWARD,
    T_HOP,
    T_INPUT,
    T_WEIGHT,
    Rule,
    Task,
    _laid_out,
    in_flight,
    layers_per_chunk,
    makespan,
    schedule,
    span,
)

# ------------------------------------------------------------------ the judge


def simulate(orders, stages, chunks, split, spent):
    """Run stages that take tasks in order and send messages; return (end, first start and last end of each stage).

    Written from the picture, not from the engine: a stage begins its next task when it is idle and has received
    what the task needs; finishing a task sends one message to one other stage, which arrives later.
    """
    own = {"F": spent[0] / chunks, "B": spent[1] / chunks, "W": spent[2] / chunks}
    travel = spent[3] if stages > 1 else 0
    last_chunk = stages * chunks - 1
    inbox = [set() for _ in range(stages)]
    inbox[0] |= {("act", number, 0) for _, number, _ in orders[0]}
    todo = [list(order) for order in orders]
    idle = [True] * stages
    first, end = [None] * stages, [Fraction(0)] * stages
    ticket, events = count(), []

    def start(stage, now):
        if not idle[stage] or not todo[stage]:
            return
        kind, number, chunk = todo[stage][0]
        wanted = {"F": ("act", number, chunk), "B": ("grad", number, chunk), "W": ("own", number, chunk)}[kind]
        if wanted not in inbox[stage]:
            return
        todo[stage].pop(0)
        idle[stage] = False
        first[stage] = now if first[stage] is None else first[stage]
        heapq.heappush(events, (now + own[kind], next(ticket), "done", stage, (kind, number, chunk)))

    def message(kind, number, chunk, now, delay):
        heapq.heappush(events, (now + delay, next(ticket), "mail", chunk % stages, (kind, number, chunk)))

    for stage in range(stages):
        start(stage, Fraction(0))
    now = Fraction(0)
    while events:
        now, _, what, stage, item = heapq.heappop(events)
        if what == "mail":
            inbox[stage].add(item)
        else:
            kind, number, chunk = item
            idle[stage], end[stage] = True, now
            if kind == "F" and chunk < last_chunk:
                message("act", number, chunk + 1, now, travel)
            elif kind == "F":
                inbox[stage].add(("grad", number, chunk))
            elif kind == "B":
                inbox[stage].add(("own", number, chunk))
            if kind == ("B" if split else "W") and chunk > 0:
                message("grad", number, chunk - 1, now, travel)
        start(stage, now)
    assert not any(todo), "the stages wait for each other"
    return max(end), first, end


def judged(plan, spent):
    orders = [[(t.kind, t.microbatch, t.chunk) for t in order] for order in plan.orders]
    return simulate(orders, plan.stages, plan.chunks, plan.rule.split, [Fraction(each) for each in spent])


def settings(name, n, seed, most=8):
    """Return random (p, m, v) that a kind of schedule takes; p = 1, m < p and m not divisible by p among them."""
    rng = random.Random(f"{name}{seed}")
    fixed = [(1, 1, 1), (1, 5, 1), (4, 1, 1), (5, 3, 1), (4, 7, 1), (3, 10, 1), (2, 2, 1)]
    if RULES[name].chunked:
        fixed = [(1, 1, 2), (1, 4, 3), (4, 4, 2), (3, 6, 3), (2, 6, 1)]
    while len(fixed) < n:
        p = rng.randint(1, most)
        m = p * rng.randint(1, 4) if RULES[name].chunked else rng.randint(1, 3 * most)
        fixed.append((p, m, rng.randint(1, 4) if RULES[name].chunked else 1))
    return fixed


def point(p, m, v, spent):
    sizes = {STAGES: p, MICROBATCHES: m, CHUNKS: v}
    times = dict(zip((T_FORWARD, T_INPUT, T_WEIGHT), spent, strict=False))
    return {key: sp.Rational(value) for key, value in {**sizes, **times}.items()}


def random_times(seed):
    rng = random.Random(seed)
    return [rng.randint(1, 40) for _ in range(4)]


# ------------------------------------------------------------------ schedules with numbers


@pytest.mark.parametrize("name", RULES)
def test_the_longest_chain_is_what_the_simulator_takes(name):
    for at, (p, m, v) in enumerate(settings(name, 40, 1, most=6)):
        plan, spent = schedule(name, p, m, v), random_times(at)
        times = dict(zip((T_FORWARD, T_INPUT, T_WEIGHT, T_HOP), spent, strict=True))
        assert makespan(plan, times) == sp.Rational(judged(plan, spent)[0]), (p, m, v)


@pytest.mark.parametrize("name", RULES)
def test_symbols_give_what_numbers_give(name):
    for at, (p, m, v) in enumerate(settings(name, 10, 2, most=3)):
        plan, spent = schedule(name, p, m, v), random_times(at)
        symbols = makespan(plan, {T_HOP: T_HOP})
        times = dict(zip((T_FORWARD, T_INPUT, T_WEIGHT, T_HOP), map(sp.Integer, spent), strict=True))
        assert symbols.xreplace(times) == makespan(plan, times), (p, m, v)


def test_too_many_chains_of_symbols_are_refused():
    plan = schedule("interleaved", 8, 32, 2)
    with pytest.raises(LayoutError, match="More than 80 chains") as caught:
        makespan(plan, {T_HOP: T_HOP})
    assert "as numbers" in caught.value.hint
    assert makespan(plan).subs({T_FORWARD: 1, T_INPUT: 1, T_WEIGHT: 1}) == 3 * sp.Rational(2 * 32 + 7, 2)


def test_durations_may_be_expressions():
    t = T_FORWARD
    plan = schedule("1f1b", 4, 8)
    assert makespan(plan, {T_INPUT: t, T_WEIGHT: t}) == 33 * t
    assert makespan(plan, {T_FORWARD: sp.Rational(1, 3), T_INPUT: 0.5, T_WEIGHT: sp.Rational(1, 6)}) == 11


@pytest.mark.parametrize("name", RULES)
def test_every_stage_does_every_task_once(name):
    for p, m, v in settings(name, 20, 3):
        for stage, order in enumerate(schedule(name, p, m, v).orders):
            wanted = {(kind, number, chunk * p + stage) for kind in "FBW" for number in range(m) for chunk in range(v)}
            assert {(t.kind, t.microbatch, t.chunk) for t in order} == wanted
            assert len(order) == len(wanted)


# Written out from the figures of the papers: kind and microbatch; a prime marks the second chunk of a stage.
FIGURES = [
    ("gpipe", 2, 2, 1, 0, "F0 F1 B0 W0 B1 W1"),
    ("1f1b", 3, 4, 1, 0, "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3"),
    ("1f1b", 3, 4, 1, 2, "F0 B0 W0 F1 B1 W1 F2 B2 W2 F3 B3 W3"),
    ("interleaved", 2, 2, 2, 0, "F0 F1 F0' F1' B0' W0' B1' W1' B0 W0 B1 W1"),
    ("interleaved", 2, 2, 2, 1, "F0 F1 F0' B0' W0' F1' B1' W1' B0 W0 B1 W1"),
    ("zb-h1", 3, 4, 1, 2, "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3"),
    ("zb-h2", 2, 4, 1, 0, "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3"),
    ("zb-h2", 2, 4, 1, 1, "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3"),
]


@pytest.mark.parametrize(("name", "p", "m", "v", "stage", "text"), FIGURES)
def test_order_of_a_stage(name, p, m, v, stage, text):
    order = schedule(name, p, m, v).orders[stage]
    assert " ".join(f"{t.kind}{t.microbatch}{chr(39) * (t.chunk // p)}" for t in order) == text


# ------------------------------------------------------------------ closed forms


@pytest.mark.parametrize("name", RULES)
def test_closed_form_of_the_step(name):
    rule, checked = RULES[name], 0
    for at, (p, m, v) in enumerate(settings(name, 60, 4, most=6)):
        spent = [*random_times(at)[:3], 0]
        where = point(p, m, v, spent)
        if m < fewest(rule).xreplace(where):
            continue
        checked += 1
        end, first, last = judged(schedule(name, p, m, v), spent)
        assert step_time(rule).xreplace(where) == sp.Rational(end), (p, m, v, spent)
        work = m * sum(spent)
        assert bubble(rule).xreplace(where) == sp.Rational(end - work)
        assert first_idle(rule).xreplace(where) == sp.Rational(last[0] - first[0] - work)
        times = {**where, T_HOP: sp.S.Zero}
        assert span(schedule(name, p, m, v), p // 2, times) == sp.Rational(last[p // 2] - first[p // 2])
    assert checked > 15


def test_too_few_microbatches_leave_the_closed_form():
    rule = RULES["zb-h2"]
    where = point(4, 2, 1, (3, 7, 5))
    assert fewest(rule) == 2 * STAGES - 1
    assert step_time(rule).xreplace(where) < makespan(schedule("zb-h2", 4, 2), where)


@pytest.mark.parametrize("name", ["gpipe", "1f1b"])
def test_hops_that_a_step_waits_for(name):
    rule = RULES[name]
    for at, (p, m, v) in enumerate(settings(name, 60, 5, most=6)):
        spent = random_times(at)
        where = {**point(p, m, v, spent), T_HOP: sp.Integer(spent[3])}
        wanted = step_time(rule) + hops(rule) * T_HOP
        assert wanted.xreplace(where) == sp.Rational(judged(schedule(name, p, m, v), spent)[0]), (p, m)


def test_1f1b_waits_for_a_round_trip_per_round():
    trips = hops(RULES["1f1b"])
    assert trips.xreplace(point(4, 8, 1, ())) == 2 * 3 * 2 + 2 * 2
    assert trips.xreplace(point(1, 8, 1, ())) == 0
    assert hops(RULES["interleaved"]) is None
    assert hops(RULES["zb-h1"]) is None


@pytest.mark.parametrize("name", RULES)
def test_what_a_stage_holds(name):
    """Count activations by time in the simulator's own order, not by the rule."""
    for p, m, v in settings(name, 30, 6, most=6):
        plan = schedule(name, p, m, v)
        for stage, order in enumerate(plan.orders):
            most, now = 0, set()
            for task in order:
                key = (task.microbatch, task.chunk)
                now = now | {key} if task.kind == "F" else now - {key} if task.kind == "W" else now
                most = max(most, len(now))
            assert in_flight(plan, stage) == sp.Rational(most, v)
            assert held(RULES[name]).xreplace({**point(p, m, v, ()), STAGE: sp.Integer(stage)}) == sp.Rational(most, v)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("chain", CHAINS)
def test_every_chain_is_in_the_schedule_and_its_parts_are_counted(name, chain):
    rule = RULES[name]
    for at, (p, m, v) in enumerate(settings(name, 30, 7, most=5)):
        where = point(p, m, v, random_times(at)[:3])
        if m < fewest(rule).xreplace(where):
            continue
        plan = schedule(name, p, m, v)
        found = walk(plan, chain)
        for part in parts(rule, chain):
            v_here = part.time(rule).xreplace(where)
            assert v_here == length({part.name: found[part.name]}, plan, where), (p, m, v, part.name)


def test_chains_that_never_are_the_longest_are_left_out():
    assert {name: longest(rule) for name, rule in RULES.items()} == {
        "gpipe": ("drain",),
        "1f1b": ("drain",),
        "interleaved": ("drain",),
        "zb-h1": CHAINS,
        "zb-h2": CHAINS,
    }
    # each of the chains of a zero-bubble schedule is the longest somewhere
    for name in ("zb-h1", "zb-h2"):
        lengths = bubbles(RULES[name])
        for times in ((1, 1, 9), (9, 1, 8), (1, 9, 8), (9, 9, 1)):
            where = point(4, 20, 1, times)
            values = [each.xreplace(where) for each in lengths]
            assert bubble(RULES[name]).xreplace(where) == max(values)
        wins = set()
        for times in ((9, 1, 8), (1, 9, 8), (9, 9, 1)):
            values = [each.xreplace(point(4, 20, 1, times)) for each in lengths]
            wins.add(values.index(max(values)))
        assert wins == {0, 1, 2}


# ------------------------------------------------------------------ printed values

# p, m, v, kind: bubble over work, and its share of the step
PRINTED = [
    (4, 8, 1, "1f1b", 0.375, 0.27273),
    (4, 8, 2, "interleaved", 0.1875, 0.15789),
    (2, 2, 1, "gpipe", 0.5, 1 / 3),
    (8, 1, 1, "gpipe", 7, 1 - 1 / 8),
]


@pytest.mark.parametrize(("p", "m", "v", "name", "ratio", "share"), PRINTED)
def test_two_definitions_of_a_bubble(p, m, v, name, ratio, share):
    spent = (2, 3, 1, 0)
    end = judged(schedule(name, p, m, v), spent)[0]
    where = point(p, m, v, spent)
    work = m * sum(spent)
    assert float(bubble(RULES[name]).xreplace(where) / work) == pytest.approx(ratio, abs=5e-6)
    assert float(end / work - 1) == pytest.approx(ratio, abs=5e-6)
    assert float(1 - work / end) == pytest.approx(share, abs=5e-6)


def test_zero_bubble_table():
    """Qi et al.: where t_W is the shortest, (p−1)(t_F+t_B−t_W) in p microbatches, (p−1)(t_F+t_B−2t_W) in 2p−1."""
    where = {T_FORWARD: sp.Integer(10), T_INPUT: sp.Integer(11), T_WEIGHT: sp.Integer(9), STAGES: sp.Integer(8)}
    assert bubble(RULES["1f1b"]).xreplace(where) == 7 * 30
    assert first_idle(RULES["zb-h1"]).xreplace(where) == 7 * (10 + 11 - 9)
    assert first_idle(RULES["zb-h2"]).xreplace(where) == 7 * (10 + 11 - 18)
    many = {MICROBATCHES: sp.Integer(64), STAGE: sp.S.Zero, **where}
    assert [held(RULES[name]).xreplace(many) for name in ("1f1b", "zb-h1", "zb-h2")] == [8, 8, 15]


# ------------------------------------------------------------------ what is refused

BAD = [
    (("gpip", 2, 2), "No pipeline schedule is called 'gpip'", "1f1b, interleaved"),
    (("gpipe", 0, 2), "cannot have 0 stages", "whole number from 1"),
    (("gpipe", -3, 2), "cannot have -3 stages", "whole number from 1"),
    (("gpipe", 2, 0), "cannot have 0 microbatches", "whole number from 1"),
    (("1f1b", 2, 2.5), "cannot have 2.5 microbatches", "whole number from 1"),
    (("1f1b", True, 2), "cannot have True stages", "whole number from 1"),
    (("1f1b", "2", 2), "cannot have 2 stages", "whole number from 1"),
    (("1f1b", 2, sp.Rational(1, 2)), "cannot have 1/2 microbatches", "whole number from 1"),
    (("interleaved", 2, 2, 0), "cannot have 0 chunks per stage", "whole number from 1"),
    (("1f1b", 2, 2, 2), "1F1B gives a stage one run of layers, not 2 chunks", "the schedule interleaved"),
    (("interleaved", 4, 6, 2), "6 microbatches are no multiple of 4 stages", "Use 4 or 8 microbatches"),
    (("interleaved", 4, 3, 2), "3 microbatches are no multiple of 4 stages", "Use 4 microbatches"),
    (("1f1b", 1000, 1_000_000), "are more than 1000000 tasks", "closed forms"),
]


@pytest.mark.parametrize(("given", "said", "way_out"), BAD)
def test_a_schedule_that_cannot_be(given, said, way_out):
    with pytest.raises(LayoutError) as caught:
        schedule(*given)
    assert said in caught.value.message
    assert way_out in caught.value.hint


def test_whole_numbers_of_sympy_are_whole():
    assert schedule("1f1b", sp.Integer(2), sp.Integer(3)).orders == schedule("1f1b", 2, 3).orders


@pytest.mark.parametrize(
    ("given", "said", "way_out"),
    [
        ((10, 4), "10 layers do not divide into 4 stages of 1 chunks", "one of 1, 2, 5, 10"),
        ((12, 4, 2), "12 layers do not divide into 4 stages of 2 chunks", "pad with layers"),
        ((0, 1), "cannot have 0 layers", "whole number from 1"),
        ((8, 2, -1), "cannot have -1 chunks per stage", "whole number from 1"),
    ],
)
def test_layers_that_do_not_divide(given, said, way_out):
    with pytest.raises(LayoutError) as caught:
        layers_per_chunk(*given)
    assert said in caught.value.message
    assert way_out in caught.value.hint


def test_layers_that_divide():
    assert layers_per_chunk(80, 8) == 10
    assert layers_per_chunk(96, 8, 3) == 4


def test_a_rule_that_waits_in_a_circle_is_refused():
    idle = Rule("idle", "No warm-up", sp.S.Zero, chunked=True)
    with pytest.raises(SymscaleError, match="wait for each other"):
        makespan(_laid_out(idle, 2, 2, 2), {T_FORWARD: 1, T_INPUT: 1, T_WEIGHT: 1})


def test_a_chain_that_skips_a_task_is_refused(monkeypatch):
    from symscale.transformer import bubble as module

    monkeypatch.setattr(module, "_backward", lambda plan, microbatch, start: [Task("B", microbatch, start)])
    with pytest.raises(StepError, match="does not wait for"):
        walk(schedule("1f1b", 4, 4), "drain")
