"""Speculative decoding: a draft model proposes tokens, the model checks all of them in one step.

Every drafted token is accepted with the chance a, independently, and the first that is refused ends the run; the model
adds a token of its own (Leviathan et al. 2023, arXiv:2211.17192).
"""

from __future__ import annotations

import sympy as sp

from symscale.errors import ModelError
from symscale.frozen import dataclass
from symscale.quantity.series import total
from symscale.solve import Solution, crossover
from symscale.solve.relation import Relation, sign_of_number
from symscale.transformer.inference_time import StepTime
from symscale.vocabulary import fresh, symbol

ACCEPTED, DRAFTED, COST = symbol("a"), symbol("n_draft"), symbol("c_draft")
#: More drafted tokens than this are not looked at.
MOST_DRAFTED = 1000


def expected_tokens(drafted: sp.Expr = DRAFTED) -> sp.Expr:
    """Return the tokens that a step with n drafted ones is expected to yield: the sum of `a^i` for i = 0 … n.

    Token i of a run appears if the i before it were accepted, with the chance `a^i`. Below a = 1 the sum is
    `(1 − a^(n + 1))/(1 − a)`.
    """
    place = fresh("i")
    above, below = sp.fraction(sp.together(1 + total(ACCEPTED**place, place, drafted)))
    return sp.powsimp(sp.expand(above)) / below


def speedup(drafted: sp.Expr = DRAFTED, check: sp.Expr = sp.S.One) -> sp.Expr:
    """Return how many times faster decoding gets: tokens per step over what the step costs, check + c·n.

    `c_draft` is the time of a draft step, `check` that of checking n + 1 tokens, in plain decode steps: 1 while weights
    and cache are read from HBM, n + 1 where arithmetic binds.
    """
    return expected_tokens(drafted) / (check + COST * drafted)


def one_more_pays() -> Solution:
    """Return up to which cost c of a draft step one more drafted token pays while checking costs one step.

    The speed-up with n + 1 exceeds that with n. n = 0: c < a.
    """
    more, now = expected_tokens(DRAFTED + 1), expected_tokens(DRAFTED)
    # both denominators are positive
    faster = (more * (1 + COST * DRAFTED), now * (1 + COST * (DRAFTED + 1)))
    return crossover(faster[0], ">", faster[1], COST, given=[Relation(ACCEPTED, "<", sp.S.One)])


def dearest_draft() -> sp.Expr:
    """Return the cost c of a draft step below which the n + 1st drafted token pays: a^(n+1)(1 − a)/(1 − …).

    Of the cases in `one_more_pays` that which applies for every a < 1: 1 + n·a^(n+2) > (n + 1)·a^(n+1) by the means of
    n + 1 numbers, n of them a^(n+2) and one 1.
    """
    inside = {ACCEPTED: sp.Rational(1, 2), DRAFTED: sp.Integer(2)}
    case = next(each for each in one_more_pays().cases if each.applies(inside))
    return case.intervals[0].hi


@dataclass(frozen=True)
class Speculation:
    """The best number of drafted tokens (0: none pays), tokens per step, the step [s], the speed-up."""

    drafted: int
    tokens: sp.Rational
    step: sp.Expr
    speedup: sp.Expr


def checking(time: StepTime, tokens: sp.Expr) -> StepTime:
    """Return the time of a step over `tokens` tokens per sequence: arithmetic grows, HBM is read as before."""
    return StepTime(
        tokens * time.weight_math, time.weight_read, tokens * time.score_math, time.cache_read, tokens * time.network
    )


def best_speculation(time: StepTime, accepted: sp.Rational, draft: sp.Expr) -> Speculation:
    """Return the best whole number of drafted tokens for a step in numbers and a draft step of `draft` seconds.

    Tokens are concave in n and the step is convex, so the first n whose next is not faster is the best.
    Raises ModelError for an acceptance outside 0 … 1, or a draft without cost that never stops to pay.
    """
    if not 0 < accepted < 1:
        raise ModelError(
            f"An acceptance of {accepted} is no chance between 0 and 1.", hint="Give a number such as 0.8."
        )
    plain, best = time.total, Speculation(0, sp.S.One, time.total, sp.S.One)
    tokens = sp.S.One
    for drafted in range(1, MOST_DRAFTED + 1):
        tokens += accepted**drafted
        step = checking(time, sp.Integer(drafted + 1)).total + drafted * draft
        gain = tokens * plain / step
        if sign_of_number(gain, best.speedup) <= 0:
            return best
        best = Speculation(drafted, tokens, step, gain)
    raise ModelError(
        f"More than {MOST_DRAFTED} drafted tokens would pay: the draft costs next to nothing.",
        hint="Give the draft model's cost, or a lower acceptance.",
    )
