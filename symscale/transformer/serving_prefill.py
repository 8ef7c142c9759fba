"""Prefill beside decode: on servers of its own, or in chunks that fill the steps of decoding."""

from __future__ import annotations

import sympy as sp

from symscale.errors import ModelError
from symscale.frozen import dataclass
from symscale.solve import Solution, crossover
from symscale.transformer.inference import B, Load
from symscale.transformer.inference_time import W_HBM, C, StepTime
from symscale.vocabulary import symbol

#: Servers that prefill and that decode, the times of one prefill and one decode step, tokens generated.
PREFILLS, DECODES, T_PREFILL, T_STEP, GENERATED = (
    symbol(name) for name in ("N_prefill", "N_decode", "T_prefill", "T_step", "T_gen")
)
CHUNK, PROMPT = symbol("T_chunk"), symbol("T_prompt")


def finished_per_second() -> sp.Expr:
    """Return the sequences that a decode server ends per second: `B/(T_step·T_gen)` [1/s]."""
    return B / (T_STEP * GENERATED)


def server_ratio() -> Solution:
    """Return how many prefill servers each decode server needs so that no sequence waits: B·T_prefill/(T_step·T_gen).

    N_prefill servers start 1/T_prefill sequences per second each, N_decode servers end B/(T_step·T_gen).
    """
    return crossover(PREFILLS / T_PREFILL, ">=", DECODES * finished_per_second(), PREFILLS / DECODES)


def evicted_per_step() -> sp.Expr:
    """Return the tokens that leave the cache per step where B sequences end after `T_gen` steps: their whole length."""
    return B / GENERATED * (PROMPT + GENERATED)


def free_chunk(load: Load) -> Solution:
    """Return which chunks of a prompt a decode step of B sequences takes for free: until arithmetic binds.

    The step multiplies the weights by B + T_chunk tokens while they are read once: T_chunk <= critical batch − B.
    Raises UndecidedError where the bytes depend on the batch.
    """
    mixed = load.weight_flops.xreplace({B: B + CHUNK})
    return crossover(mixed / C, "<=", load.weight_bytes / W_HBM, CHUNK)


@dataclass(frozen=True)
class Chunked:
    """A prompt in chunks: steps until its first token, the time until then, and the longest of these steps [s]."""

    chunk: int
    steps: int
    first_token: sp.Expr
    step: sp.Expr


def mixed_step(decode: StepTime, batch: int, chunk: int, scores: sp.Expr, prompt_read: sp.Expr) -> StepTime:
    """Return the time of a step that decodes a batch and prefills a chunk.

    The weights' arithmetic grows by chunk/batch; `scores` is the time of the chunk's attention, and `prompt_read` that
    of reading what the prompt has cached so far [s].
    """
    growth = 1 + sp.Rational(chunk, batch)
    return StepTime(
        growth * decode.weight_math,
        decode.weight_read,
        decode.score_math + scores,
        decode.cache_read + prompt_read,
        growth * decode.network,
    )


def chunked(decode: StepTime, batch: int, prompt: int, chunk: int, scores: sp.Expr, prompt_read: sp.Expr) -> Chunked:
    """Return how a prompt comes through in chunks beside `batch` sequences that decode, all in numbers.

    `scores` is the time of the whole prompt's attention, `prompt_read` of reading its whole cache once [s]. A chunk
    reads what those before it left; their attention adds up to that of the prompt. Raises ModelError for no chunk.
    """
    if chunk < 1 or prompt < 1 or batch < 1:
        raise ModelError(
            f"A prompt of {prompt} tokens in chunks of {chunk}, beside {batch} sequences, is no plan.",
            hint="Give whole numbers from 1; a batch that is compute-bound leaves no room for a chunk.",
        )
    steps = -(-prompt // chunk)
    total, longest, done = sp.S.Zero, sp.S.Zero, 0
    for _ in range(steps):
        size = min(chunk, prompt - done)
        # pairs of query and key: each query of the chunk sees all before it and itself
        pairs = sp.Rational((done + size) * (done + size + 1) - done * (done + 1), prompt * (prompt + 1))
        spent = mixed_step(decode, batch, size, pairs * scores, sp.Rational(done, prompt) * prompt_read).total
        total, longest, done = total + spent, sp.Max(longest, spent), done + size
    return Chunked(chunk, steps, total, longest)
