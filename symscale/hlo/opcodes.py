"""The operations of XLA, and which of them are collectives."""

from __future__ import annotations

from types import MappingProxyType

from symscale.collectives import Kind

# What an op is, by its name in HLO; `-start` and `-done` are the halves of an asynchronous one.
OPCODES = frozenset(
    """
    abs add add-dependency after-all all-gather all-reduce all-to-all and async async-update atan2
    batch-norm-grad batch-norm-inference batch-norm-training bitcast bitcast-convert broadcast call cbrt ceil cholesky
    clamp clz collective-broadcast collective-permute compare complex concatenate conditional constant convert
    convolution copy cosine custom-call divide domain dot dynamic-reshape dynamic-slice dynamic-update-slice erf
    exponential exponential-minus-one fft floor fusion gather get-dimension-size get-tuple-element imag infeed iota
    is-finite log log-plus-one logistic map maximum minimum multiply negate not opt-barrier optimization-barrier or
    outfeed pad parameter partition-id popcnt power ragged-all-to-all ragged-dot real recv reduce reduce-precision
    reduce-scatter reduce-window remainder replica-id reshape reverse rng rng-bit-generator rng-get-and-update-state
    round-nearest-afz round-nearest-even rsqrt scaled-dot scan scatter select select-and-scatter send set-dimension-size
    shift-left shift-right-arithmetic shift-right-logical sign sine slice sort sqrt stochastic-convert subtract tan tanh
    top-k topk transpose triangular-solve tuple while xor acos acosh asin asinh atanh cosh sinh
    """.split()  # noqa: SIM905 (a table of words reads better than a list of strings)
)
COLLECTIVES = MappingProxyType(
    {
        "all-gather": Kind.AllGather,
        "all-reduce": Kind.AllReduce,
        "reduce-scatter": Kind.ReduceScatter,
        "all-reduce-scatter": Kind.ReduceScatter,  # the name of a TPU's fusion
        "all-to-all": Kind.AllToAll,
        "ragged-all-to-all": Kind.AllToAll,
        "collective-permute": Kind.Permute,
        "collective-broadcast": Kind.Permute,
    }
)
# These move nothing: they name an array again, or wait for one.
FREE = frozenset(
    """
    parameter constant tuple get-tuple-element bitcast after-all opt-barrier optimization-barrier partition-id
    replica-id add-dependency domain
    """.split()  # noqa: SIM905
)


def collective_of(op: str) -> Kind | None:
    """Return the collective that an operation is, or the first half of, else None."""
    return COLLECTIVES.get(op.removesuffix("-start"))
