"""A model in numbers: parameters, FLOPs, cache and intensity as sections of closed forms with their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import sympy as sp

from symscale.array import ELEMENT_BYTES, dtype
from symscale.errors import ModelError
from symscale.frozen import dataclass
from symscale.solve import Solution
from symscale.transformer.blocks import values
from symscale.transformer.cache import cache_forms, cache_per_token
from symscale.transformer.config import CHUNKED, FULL, Config, check_length
from symscale.transformer.flops import equal_length, flops_forms, per_token, rule_of_six, training_forms
from symscale.transformer.intensity import attention_intensity, tiled_traffic
from symscale.transformer.parameters import active_forms, parameter_forms
from symscale.vocabulary import symbol

B, T, S, BYTES = symbol("B"), symbol("T"), symbol("S"), symbol("b")


@dataclass(frozen=True)
class Asked:
    """What a breakdown is for: lengths and batches (0: open), dtypes, the mask, and what training computes again."""

    seq: int = 0
    batch: int = 0
    tokens: int = 0
    dtype: str = "bf16"
    kv_dtype: str = ""
    causal: bool = True
    remat: str = "none"
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """A row: what it is, its closed form, its value (which may still depend on T or S), its unit, its share.

    A `plain` row follows from those above it, and its closed form is not shown.
    """

    label: str
    form: sp.Expr
    value: sp.Expr
    unit: str = ""
    share: sp.Expr | None = None
    plain: bool = False


@dataclass(frozen=True)
class Section:
    """Rows under a title, with what has to be said about them."""

    title: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Breakdown:
    """A model with its sizes, its blocks, and what follows from them."""

    config: Config
    asked: Asked
    sizes: Mapping[sp.Symbol, sp.Integer]
    sections: tuple[Section, ...]
    equal: Solution


def breakdown(config: Config, asked: Asked | None = None) -> Breakdown:
    """Return parameters, FLOPs, KV cache and intensity of a model, for what is asked. Raises ModelError."""
    asked = checked(asked or Asked())
    check_length(config, asked.seq, "--seq")
    sections = (
        _parameters(config, asked),
        _forward(config, asked),
        _training(config, asked),
        _cache(config, asked),
        _attention(config, asked),
    )
    return Breakdown(config, asked, values(config), sections, equal_length(config, causal=asked.causal))


def checked(asked: Asked) -> Asked:
    """Return what is asked with its dtypes spelled out. Raises ModelError for sizes that need another one."""
    if asked.batch and not asked.seq:
        raise ModelError("A batch of sequences needs their length.", hint="Give --seq as well.")
    kind = dtype(asked.dtype)
    return replace(asked, dtype=kind, kv_dtype=dtype(asked.kv_dtype or kind))


def _known(config: Config, asked: Asked) -> dict[sp.Symbol, sp.Expr]:
    """Return the numbers of a model and of the sequences asked for."""
    known: dict[sp.Symbol, sp.Expr] = dict(values(config))
    if asked.seq:
        known |= {T: sp.Integer(asked.seq), S: sp.Integer(asked.seq)}
    return known


def _table(forms: Mapping[str, sp.Expr], known: Mapping[sp.Symbol, sp.Expr], unit: str) -> tuple[Line, ...]:
    """Return a row for each part and their sum, with shares where all values are numbers."""
    numbers = {part: sp.expand(form.xreplace(known)) for part, form in forms.items()}
    total = sp.Add(*numbers.values())
    rows = [
        Line(part, form, numbers[part], unit, numbers[part] / total if total.is_number else None)
        for part, form in forms.items()
    ]
    whole = Line("total", sp.Add(*forms.values()), total, unit, sp.S.One if total.is_number else None, plain=True)
    return (*rows, whole)


def _parameters(config: Config, asked: Asked) -> Section:
    known = values(config)
    lines = _table(parameter_forms(config), known, "")
    notes = []
    if config.experts is not None:
        active = sp.Add(*active_forms(config).values())
        lines = (*lines, Line("active per token", active, active.xreplace(known), plain=True))
        notes.append(
            f"A token meets {config.experts.k} of {config.experts.E} routed experts: E is k in the active ones."
        )
    whole = next(line for line in lines if line.label == "total")
    held = whole.value * ELEMENT_BYTES[asked.dtype]
    lines = (*lines, Line(f"in {asked.dtype}", BYTES * whole.form, held, "B", plain=True))
    if config.tied:
        notes.append("The unembedding is the embedding: it is stored once.")
    return Section("Parameters", lines, tuple(notes))


def _forward(config: Config, asked: Asked) -> Section:
    forms = per_token(flops_forms(config, causal=asked.causal))
    mask = (
        "Causal: query i sees i keys, at most its window's."
        if asked.causal
        else "Not causal: every query sees all keys, at most a window of them."
    )
    note = f"{mask} A multiply-add is two FLOPs; look-ups, norms and activations are not counted."
    title = f"Forward FLOPs per token, in sequences of {asked.seq:,}" if asked.seq else "Forward FLOPs per token"
    return Section(title, _table(forms, _known(config, asked), "FLOP"), (note,))


def _training(config: Config, asked: Asked) -> Section:
    known = _known(config, asked)
    forms = per_token(training_forms(config, causal=asked.causal, remat=asked.remat))
    lines = list(_table(forms, known, "FLOP"))
    rule = rule_of_six(config, causal=asked.causal, remat=asked.remat)
    six = sp.expand(rule.approximate.xreplace(known) / B)
    lines.append(Line("rule of six", rule.approximate / B, six, "FLOP", plain=True))
    if asked.seq:
        lines.append(Line("its error", rule.error, sp.cancel(rule.error.xreplace(known)), "", plain=True))
    lines += _totals(lines, asked)
    return Section("Training FLOPs per token", tuple(lines), (_remat_note(asked),))


def _totals(lines: Sequence[Line], asked: Asked) -> list[Line]:
    """Return the FLOPs of a step and of the whole training."""
    step = next(line for line in lines if line.label == "total")
    sizes = {"a step": asked.batch * asked.seq, "the training": asked.tokens}
    return [
        Line(f"{what} of {size:,} tokens", size * step.form, sp.expand(size * step.value), "FLOP", plain=True)
        for what, size in sizes.items()
        if size
    ]


def _remat_note(asked: Asked) -> str:
    again = {
        "none": "nothing is",
        "selective": "the first product of the scores, which fused attention needs, is",
        "scores": "the scores, with both products, are",
        "full": "every layer is",
    }[asked.remat]
    return (
        f"Forward and backward; in the backward pass {again} computed again. The rule of six is 6 FLOPs per"
        " active parameter and token."
    )


def _cache(config: Config, asked: Asked) -> Section:
    known: dict[sp.Symbol, sp.Expr] = {**values(config), BYTES: ELEMENT_BYTES[asked.kv_dtype]}
    per = cache_per_token(config)
    lines = [Line(f"{kind}, per token", form, form.xreplace(known), "B") for kind, form in per.items()]
    whole = sp.Add(*cache_forms(config).values())
    if asked.seq:
        value = whole.xreplace({**known, S: sp.Integer(asked.seq)})
        lines.append(Line(f"a sequence of {asked.seq:,}", whole, value, "B"))
        if asked.batch:
            lines.append(Line(f"{asked.batch:,} sequences", asked.batch * whole, value * asked.batch, "B", plain=True))
    else:
        lines.append(Line("a sequence of S", whole, sp.expand(whole.xreplace(known)), "B"))
    local = [kind for kind in per if kind != FULL]
    notes = (f"A {local[0]} layer keeps at most {config.window:,} tokens.",) if local else ()
    return Section(f"KV cache in {asked.kv_dtype}", tuple(lines), notes)


def _attention(config: Config, asked: Asked) -> Section:
    known = {**_known(config, asked), BYTES: ELEMENT_BYTES[asked.kv_dtype]}
    lines = []
    for phase in ("prefill", "decode"):
        for fused in (True, False):
            ratio = attention_intensity(config, phase, fused=fused).ratio
            label = f"{phase}, {'fused' if fused else 'naive'}"
            lines.append(Line(label, ratio, sp.cancel(ratio.xreplace(known)), "FLOP/B"))
    traffic = tiled_traffic(config)
    lines.append(Line("HBM traffic, naive", traffic.naive, sp.expand(traffic.naive.xreplace(known)), "B"))
    lines.append(Line("HBM traffic, tiled", traffic.tiled, sp.expand(traffic.tiled.xreplace(known)), "B"))
    notes = [
        f"Intensity and traffic of the scores of one layer and one sequence, without a mask and with every array in"
        f" {asked.kv_dtype}. Fused reads queries, keys"
        " and values once; tiled reads keys and values once for every T_tile queries that stay on the chip,"
        " at most the tile whose queries, keys, values and results of one head fill it.",
    ]
    if CHUNKED in config.kinds:
        notes.append("Chunks count as whole ones in the length at which scores equal the feed-forward blocks.")
    return Section("Attention", tuple(lines), tuple(notes))
