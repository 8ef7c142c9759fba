"""What is shown of a served model: memory, the decode step, batches, prefill, speculation, pages; forms and numbers."""

from __future__ import annotations

import sympy as sp

from symscale.array import ELEMENT_BYTES
from symscale.errors import ModelError
from symscale.notation.numbers import format_number
from symscale.solve import crossover
from symscale.transformer.blocks import values
from symscale.transformer.breakdown import Line, Section
from symscale.transformer.config import FULL, Config
from symscale.transformer.inference import WEIGHT, B, Held, Load, S, T, decode
from symscale.transformer.inference_time import (
    M_HBM,
    N_CHIPS,
    W_HBM,
    C,
    StepTime,
    compute_bound,
    fitting,
    latency_floor,
    step_time,
    throughput_limit,
)
from symscale.transformer.serving import Served
from symscale.transformer.serving_batching import PAGE, page_occupancy, wasted_slots
from symscale.transformer.serving_prefill import (
    GENERATED,
    T_PREFILL,
    T_STEP,
    chunked,
    evicted_per_step,
    finished_per_second,
    free_chunk,
    server_ratio,
)
from symscale.transformer.serving_speculation import best_speculation, dearest_draft, expected_tokens, speedup
from symscale.vocabulary import symbol

#: Short names for the counts of a model, in which the closed forms are readable.
FLOPS_TOKEN, FLOPS_CACHED = symbol("FLOPs_token"), symbol("FLOPs_scores")
M_READ, M_KEPT, M_CACHE, M_SEQUENCE = symbol("M_read"), symbol("M_weights"), symbol("M_cache"), symbol("M_sequence")
NAMED = Load(B * FLOPS_TOKEN, M_READ, B * FLOPS_CACHED, B * M_CACHE)
PROMPT = Load(symbol("FLOPs_prompt"), M_READ, symbol("FLOPs_pairs"), symbol("M_written"))
NAMED_HELD = Held(M_KEPT, M_SEQUENCE)
WIDTHS = ("bf16", "int8", "int4")


def sections(found: Served) -> tuple[Section, ...]:
    """Return the sections of a served model, those that were asked for."""
    made = [_memory(found), _step(found), _batches(found)]
    made += [_slice(found)] if found.place.endless is not None else []
    made += [_prefill(found)] if found.asked.prompt else []
    made += [_speculation(found)] if found.asked.accept is not None else []
    made += [_pages(found)] if found.asked.page else []
    return tuple(made)


def _line(found: Served, label: str, form: sp.Expr, unit: str = "") -> Line:
    return Line(label, form, sp.expand(found.number(form)), unit)


def _of(found: Served, label: str, form: sp.Expr, value: sp.Expr, unit: str = "") -> Line:
    """Return a row whose form is in short names, and whose value comes from the full form."""
    return Line(label, form, sp.expand(found.number(value)), unit)


def _memory(found: Served) -> Section:
    held, asked = found.held, found.asked
    border = fitting(NAMED_HELD).cases[0].intervals[-1].hi
    per_token = sp.expand(found.number(held.cache)) / asked.context
    lines = [
        _line(found, f"M_weights, weights in {asked.weights}", held.weights, "B"),
        _line(found, f"M_sequence, cache in {asked.cache}", held.cache, "B"),
        Line("a token of it, on average", M_SEQUENCE / S, per_token, "B", plain=True),
        _of(found, "HBM of all chips", N_CHIPS * M_HBM, N_CHIPS * M_HBM, "B"),
        _of(found, "left for the cache", N_CHIPS * M_HBM - M_KEPT, N_CHIPS * M_HBM - held.weights, "B"),
        _of(found, "largest batch", border, border.xreplace({M_KEPT: held.weights, M_SEQUENCE: held.cache})),
    ]
    return Section("Memory", tuple(lines), _memory_notes(found))


def _memory_notes(found: Served) -> tuple[str, ...]:
    notes = [
        f"It fits, with up to {found.largest:,} {'sequence' if found.largest == 1 else 'sequences'} of"
        f" {found.asked.context:,} tokens. Weights and cache are spread evenly over the chips; working memory is not"
        " counted."
    ]
    heads = getattr(found.config.attention, "K", 1)
    if found.place.chips > heads:
        share = sp.ceiling(sp.Rational(found.place.chips, heads))
        notes.append(
            f"{found.place.chips:,} chips share {heads} {'head' if heads == 1 else 'heads'} of the cache, so that it is"
            f" even only where sequences, or their tokens, are split over {share} groups of chips too."
        )
    if found.config.window and any(kind != FULL for kind in found.config.kinds):
        notes.append(
            f"Layers with a window keep and read at most {found.config.window:,} tokens; chunks count as full."
        )
    return tuple(notes)


def _step(found: Served) -> Section:
    load = found.load
    short, dense = step_time(NAMED), step_time(found.dense)
    lines = [
        _line(found, "FLOPs_token, per sequence", found.dense.weight_flops / B, "FLOP"),
        _line(found, "M_read, weights of a step", found.dense.weight_bytes, "B"),
        _line(found, "FLOPs_scores, per sequence", load.score_flops / B, "FLOP"),
        _line(found, "M_cache, per sequence", load.cache_bytes / B, "B"),
        Line("attention, FLOPs per byte", FLOPS_CACHED / M_CACHE, found.number(load.intensity), "FLOP/B"),
        _of(found, "the machine's C/W_hbm", C / W_HBM, C / W_HBM, "FLOP/B"),
    ]
    parts = {
        "weights, arithmetic of a sequence": "weight_math",
        "attention, arithmetic of a sequence": "score_math",
        "attention, reading of a sequence": "cache_read",
    }
    lines += [
        _of(found, label, getattr(short, part) / B, getattr(dense, part) / B, "s") for label, part in parts.items()
    ]
    last = next(row for row in reversed(found.rows) if row.fits)
    whole = found.number(dense.total).xreplace({B: sp.Integer(last.batch)})
    lines += [
        _of(found, "T_step at least", latency_floor(short), latency_floor(dense), "s"),
        Line(f"T_step of B = {last.batch:,}", short.total, whole, "s"),
        _of(
            found, "tokens per second at most, without network", throughput_limit(short), throughput_limit(dense), "1/s"
        ),
    ]
    return Section("A decode step", tuple(lines), (_attention_note(found), *_step_notes(found)))


def _attention_note(found: Served) -> str:
    ratio, machine = found.number(found.load.intensity), found.number(C / W_HBM)
    side = "below" if ratio < machine else "not below"
    bound = "reading the cache binds" if ratio < machine else "its arithmetic binds"
    return (
        f"Attention does {format_number(ratio, 4)} FLOPs per byte of cache, whatever the batch and the context: {side}"
        f" the machine's {format_number(machine, 4)}, so {bound}."
    )


def _step_notes(found: Served) -> list[str]:
    notes = ["The weights' products, then attention; or the collectives, where they take longer."]
    if found.config.experts is not None:
        said = "all experts" if found.asked.touched == "all" else "as many experts as B tokens are expected to reach"
        notes.append(f"The table reads {said}; the forms here read all.")
    return notes


def _batches(found: Served) -> Section:
    """Return from which batch on arithmetic binds the weights, for each pair of width and peak that the chip has."""
    peaks = dict(found.place.chip.peaks)
    border = compute_bound(NAMED).cases[0].intervals[0].lo
    lines = [_of(found, "with these dtypes", border, compute_bound(found.dense).cases[0].intervals[0].lo)]
    exact = compute_bound(found.dense).cases[0].intervals[0].lo
    for kind in WIDTHS:
        for peak in dict.fromkeys(("bf16", found.asked.compute, "int8", "fp8")):
            if peak in peaks and ELEMENT_BYTES[kind] <= ELEMENT_BYTES[peak]:
                value = exact.xreplace({WEIGHT: ELEMENT_BYTES[kind], C: peaks[peak]})
                lines.append(Line(f"{kind} weights, {peak} peak", border, found.number(value), plain=True))
    return Section("Batch from which on arithmetic binds the weights", tuple(lines))


def _slice(found: Served) -> Section:
    """Return beyond how many chips a slice no longer pays: the collectives then take longer than HBM."""
    endless = found.place.endless
    if endless is None:
        raise ModelError("A chip that stands alone has no network.", hint="Name a chip with one.")
    sent = symbol("T_comms")
    read = (NAMED.weight_bytes + NAMED.cache_bytes) / (N_CHIPS * W_HBM)
    short = crossover(sent, ">=", read, N_CHIPS).cases[0].intervals[0].lo
    lines = [Line("T_comms, per sequence", endless / B, sp.expand(found.number(endless / B)), "s")]
    for row in (found.rows[0], found.rows[-1]) if len(found.rows) > 1 else found.rows:
        put = {M_READ: found.dense.weight_bytes, M_CACHE: found.load.cache_bytes / B, sent: endless}
        value = sp.floor(found.number(short.xreplace(put)).xreplace({B: sp.Integer(row.batch)}))
        lines.append(Line(f"chips at most, B = {row.batch:,}", short, value))
    main = found.place.chip.main_network
    joined = "" if main is None or main.kind == "torus" else " One switch is taken to join them all."
    note = (
        "On a long slice the collectives of a step take as long as on a short one, and HBM is read by ever more chips:"
        " from that many on T_comms exceeds the reading, and more chips no longer make steps faster."
        f" Where a pod has fewer, all of it pays.{joined}"
    )
    return Section("How large a slice pays", tuple(lines), (note,))


def _prefill(found: Served) -> Section:
    asked = found.asked
    prompt = sp.Integer(asked.prompt)
    spent = step_time(found.prefill)
    alone = found.number(spent.total).xreplace({T: prompt})
    decoded = next(row for row in reversed(found.rows) if row.fits)
    lines = [
        *(Line(str(name), form, found.number(form).xreplace({T: prompt}), unit) for name, form, unit in _counts(found)),
        Line("T_prefill, all chips", step_time(PROMPT).total, alone, "s"),
        *_disaggregated(found, alone, decoded.batch, decoded.step),
        *_chunks(found, spent, decoded.batch),
    ]
    note = (
        f"A prompt of {asked.prompt:,} tokens, causal, with logits for its last token; servers are slices like this,"
        f" decoding B = {decoded.batch:,}."
    )
    return Section("Prefill", tuple(lines), (note,))


def _counts(found: Served) -> list[tuple[sp.Expr, sp.Expr, str]]:
    """Return what a prefill computes and moves, by its short names."""
    load = found.prefill
    return [
        (PROMPT.weight_flops, load.weight_flops, "FLOP"),
        (PROMPT.score_flops, load.score_flops, "FLOP"),
        (PROMPT.cache_bytes, load.cache_bytes, "B"),
    ]


def _disaggregated(found: Served, prefill: sp.Expr, batch: int, step: sp.Expr) -> list[Line]:
    if not found.asked.generate:
        return []
    put = {T_PREFILL: prefill, T_STEP: step, GENERATED: sp.Integer(found.asked.generate), B: sp.Integer(batch)}
    put[symbol("T_prompt")] = sp.Integer(found.asked.prompt)
    ratio = server_ratio().cases[0].intervals[0].lo
    rows = (
        ("prefill per decode server", ratio, ""),
        ("sequences ended per second", finished_per_second(), "1/s"),
        ("tokens evicted per step", evicted_per_step(), ""),
    )
    return [Line(label, form, form.xreplace(put), unit) for label, form, unit in rows]


def _chunks(found: Served, spent: StepTime, batch: int) -> list[Line]:
    form = free_chunk(NAMED).cases[0].intervals[-1].hi
    full = {FLOPS_TOKEN: found.dense.weight_flops / B, M_READ: found.dense.weight_bytes}
    room = found.number(form.xreplace(full)).xreplace({B: sp.Integer(batch)})
    lines = [Line(f"free chunk beside B = {batch:,}", form, sp.Max(room, 0))]
    size = int(sp.floor(room))
    if size >= 1:
        at = {T: sp.Integer(found.asked.prompt)}
        decoding = found.time.put(found.known).put({B: sp.Integer(batch)})
        alone = spent.put(found.known).put(at)
        mixed = chunked(decoding, batch, found.asked.prompt, size, alone.score_math, alone.cache_read)
        lines.append(
            Line(f"first token, {mixed.steps:,} chunks", symbol("T_first"), mixed.first_token, "s", plain=True)
        )
        lines.append(Line("longest step with a chunk", symbol("T_mixed"), mixed.step, "s", plain=True))
    return lines


def _speculation(found: Served) -> Section:
    asked = found.asked
    if asked.accept is None or asked.draft is None:
        raise ModelError("Speculative decoding needs a draft and its acceptance.", hint="Give both.")
    lines = [
        Line("tokens per step", expected_tokens(), expected_tokens().xreplace({symbol("a"): asked.accept})),
        Line("speed-up, HBM-bound", speedup(), speedup().xreplace({symbol("a"): asked.accept})),
        Line("one more pays below c_draft", dearest_draft(), dearest_draft().xreplace({symbol("a"): asked.accept})),
    ]
    for row in found.rows:
        if row.fits:
            here = found.time.put(found.known).put({B: sp.Integer(row.batch)})
            best = best_speculation(here, asked.accept, _draft_step(found, asked.draft, row.batch, row.step))
            what = f"B = {row.batch:,}, {best.drafted} drafted" if best.drafted else f"B = {row.batch:,}, none pays"
            lines.append(Line(what, speedup(), best.speedup, plain=True))
    note = (
        f"A drafted token is accepted with the chance {asked.accept}, independently; c_draft is a draft step in decode"
        " steps, n_draft + 1 tokens are checked at once. Where arithmetic binds all of the step, none pays."
    )
    return Section("Speculative decoding", tuple(lines), (note,))


def _draft_step(found: Served, draft: Config | sp.Rational, batch: int, step: sp.Expr) -> sp.Expr:
    """Return how long a draft step takes: a share of the step, or that of the draft model on the same chips [s]."""
    if not isinstance(draft, Config):
        return draft * step
    load = decode(draft, touched=found.asked.touched)
    known = {**found.known, **values(draft), B: sp.Integer(batch)}
    return step_time(load).put(known).total


def _pages(found: Served) -> Section:
    put = {PAGE: sp.Integer(found.asked.page), S: sp.Integer(found.asked.context)}
    lines = [
        Line("empty slots per sequence", wasted_slots(), wasted_slots().xreplace(put)),
        Line("slots in use", page_occupancy(), page_occupancy().xreplace(put)),
    ]
    return Section(f"Pages of {found.asked.page:,} tokens", tuple(lines))
