"""Serving a model on a slice: what fits, how fast it decodes and prefills, and what binds, as forms with numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import sympy as sp

from symscale.array import ELEMENT_BYTES, dtype
from symscale.errors import ModelError
from symscale.frozen import dataclass
from symscale.machine import Machine
from symscale.machine.shapes import smallest
from symscale.notation.numbers import format_quantity
from symscale.solve import Solution
from symscale.transformer.blocks import values
from symscale.transformer.config import Config, check_length
from symscale.transformer.inference import (
    CACHED,
    TOUCHED,
    WEIGHT,
    Held,
    Load,
    S,
    decode,
    held_bytes,
    prefill,
)
from symscale.transformer.inference_time import M_HBM, N_CHIPS, StepTime, compute_bound, fitting, step_time
from symscale.transformer.serving_table import MOST_ROWS, Row, rows, usual_batches
from symscale.vocabulary import symbol

#: A number of sequences that no chip decodes at once.
LARGEST_BATCH = 10**9


@dataclass(frozen=True)
class Serve:
    """What is asked: batches (empty: the usual ones), lengths in tokens (0: not asked), dtypes, experts, a draft.

    `accept` is the chance that a drafted token is accepted, `draft` the model that drafts, or its cost in decode steps.
    """

    batches: tuple[int, ...] = ()
    context: int = 8192
    prompt: int = 0
    generate: int = 0
    weights: str = "bf16"
    cache: str = "bf16"
    compute: str = "bf16"
    touched: str = "all"
    accept: sp.Rational | None = None
    draft: Config | sp.Rational | None = None
    page: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Place:
    """Where a model is served: the chip, how many, and the time of a step's collectives, there and on a long slice.

    The times are formulas in B and the sizes of the model [s]; `endless` is None where chips stand alone.
    `alone` is the chip without a slice or a cluster, by which larger ones are found.
    """

    chip: Machine
    chips: int
    network: sp.Expr = sp.S.Zero
    endless: sp.Expr | None = None
    alone: Machine | None = None


@dataclass(frozen=True)
class Served:
    """A model on its chips: its loads and times as forms, every number, the largest batch and the rows of a table."""

    config: Config
    asked: Serve
    place: Place
    known: Mapping[sp.Symbol, sp.Expr]
    load: Load
    dense: Load
    prefill: Load
    held: Held
    time: StepTime
    largest: int
    critical: sp.Expr
    rows: tuple[Row, ...]

    def number(self, form: sp.Expr) -> sp.Expr:
        """Return a form with every number put in but the batch and the lengths of a prompt."""
        return form.xreplace(dict(self.known))


def serve(config: Config, place: Place, asked: Serve | None = None) -> Served:
    """Return how a model is served. Raises ModelError where it does not fit, MachineError for no peak."""
    asked = checked(asked or Serve())
    check_length(config, asked.context, "--context")
    if asked.touched != "all" and config.experts is None:
        raise ModelError(
            f"{config.name} has no routed experts, so none are {asked.touched}.", hint="Leave --experts out."
        )
    if isinstance(asked.draft, Config):
        check_length(asked.draft, asked.context, "--context")
    known = numbers(config, place, asked)
    load, held = decode(config, touched=asked.touched), held_bytes(config)
    dense = load if asked.touched == "all" else decode(config)
    time = step_time(load, place.network)
    largest = largest_batch(config, place, asked, held, known)
    critical = _border(compute_bound(dense.put(known)), at=known)
    batches = asked.batches or usual_batches(largest, int(sp.ceiling(critical)))
    table = rows(time, held, batches, place.chips, known[M_HBM], known)
    if not any(row.fits for row in table):
        raise too_many(config, place, asked, min(batches), largest)
    prompt = prefill(config, touched=asked.touched)
    return Served(config, asked, place, known, load, dense, prompt, held, time, largest, critical, table)


def checked(asked: Serve) -> Serve:
    """Return what is asked with its dtypes spelled out. Raises ModelError for what no table or step has."""
    if len(asked.batches) > MOST_ROWS:
        raise ModelError(
            f"The table would have {len(asked.batches):,} rows.", hint=f"At most {MOST_ROWS:,}: widen the step."
        )
    if asked.touched not in TOUCHED:
        raise ModelError(f"Unknown choice of experts {asked.touched[:40]!r}.", hint=f"Use one of {', '.join(TOUCHED)}.")
    if asked.generate and not asked.prompt:
        raise ModelError(
            f"{asked.generate:,} tokens are generated after a prompt of no length.", hint="Give --prompt as well."
        )
    if asked.prompt and asked.prompt + asked.generate > asked.context:
        raise ModelError(
            f"A prompt of {asked.prompt:,} and {asked.generate:,} generated tokens exceed the context of"
            f" {asked.context:,}.",
            hint=f"Give --context {asked.prompt + asked.generate} or more.",
        )
    if (asked.accept is None) != (asked.draft is None):
        missing = "--accept 0.8" if asked.accept is None else "--draft MODEL, or its cost in decode steps"
        raise ModelError("Speculative decoding needs a draft and its acceptance.", hint=f"Add {missing}.")
    return replace(asked, weights=dtype(asked.weights), cache=dtype(asked.cache), compute=dtype(asked.compute))


def numbers(config: Config, place: Place, asked: Serve) -> dict[sp.Symbol, sp.Expr]:
    """Return every number: sizes of the model, bytes per element, the context, the machine's constants."""
    constants = place.chip.constants(asked.compute)
    for name, key in (("W_hbm", "bandwidth"), ("M_hbm", "capacity")):
        if name not in constants:
            raise ModelError(
                f"{place.chip.title} has no number for {name}.", hint=f"State {key} in its file, section [hbm]."
            )
    return {
        **values(config),
        **{symbol(name): value for name, value in constants.items()},
        WEIGHT: ELEMENT_BYTES[asked.weights],
        CACHED: ELEMENT_BYTES[asked.cache],
        S: sp.Integer(asked.context),
        N_CHIPS: sp.Integer(place.chips),
    }


def largest_batch(config: Config, place: Place, asked: Serve, held: Held, known: Mapping[sp.Symbol, sp.Expr]) -> int:
    """Return the largest whole batch that fits. Raises ModelError where weights or one sequence do not."""
    here = Held(held.weights.xreplace(dict(known)), held.cache.xreplace(dict(known)))
    room = place.chips * known[M_HBM]
    if here.weights + here.cache > room:
        raise _misfit(config, place, asked, here, room)
    return int(sp.floor(_border(fitting(here), upper=True, at=known)))


def _border(solution: Solution, *, upper: bool = False, at: Mapping[sp.Symbol, sp.Expr] | None = None) -> sp.Expr:
    """Return the one border of a solution whose numbers are in: infinity where the relation never holds."""
    found = next((each.intervals for each in solution.cases if each.applies(at or {})), ())
    if not found:
        return sp.S.Zero if upper else sp.oo
    return (found[-1].hi if upper else found[0].lo).xreplace(dict(at or {}))


def _misfit(config: Config, place: Place, asked: Serve, held: Held, room: sp.Expr) -> ModelError:
    """Return the error of a model that is too large for its chips, with the number of chips that would do."""
    capacity = room / place.chips
    needed = int(sp.ceiling((held.weights + held.cache) / capacity))
    what = f"{config.name} takes {_bytes(held.weights)} in {asked.weights}"
    if held.weights <= room:
        what += f" and a sequence of {asked.context:,} tokens {_bytes(held.cache)} in {asked.cache}"
    each = "chip has" if place.chips == 1 else f"chips have {_bytes(capacity)} each:"
    larger = smallest(place.alone or place.chip, needed)
    joined = f"Use {needed:,} chips or more{f', such as --on {larger}' if larger else ''}"
    more = [joined] if larger or place.alone is None else ["Use a chip with more memory, or one that comes in clusters"]
    ways = ", or ".join([*more, *_narrower(asked, held, room)])
    return ModelError(
        f"{what}, and {place.chips:,} {each} {_bytes(room)} of HBM on {place.chip.title}: it does not fit.",
        hint=f"{ways}{'' if held.weights > room else ', or a shorter --context'}.",
    )


def _narrower(asked: Serve, held: Held, room: sp.Expr) -> list[str]:
    """Return the narrower dtypes with which a model would fit, the widest of each."""
    narrow = {kind: ELEMENT_BYTES[kind] for kind in ("int8", "int4")}
    weights = {kind: held.weights * width / ELEMENT_BYTES[asked.weights] + held.cache for kind, width in narrow.items()}
    caches = {kind: held.weights + held.cache * width / ELEMENT_BYTES[asked.cache] for kind, width in narrow.items()}
    found = []
    for option, sizes in (("--weights", weights), ("--cache", caches)):
        kind = next((kind for kind, size in sizes.items() if size <= room), "")
        found += [f"{option} {kind}"] if kind else []
    return found


def too_many(config: Config, place: Place, asked: Serve, batch: int, largest: int) -> ModelError:
    """Return the error of batches none of which fits."""
    return ModelError(
        f"A batch of {batch:,} sequences of {asked.context:,} tokens of {config.name} does not fit on {place.chips:,}"
        f" {'chip' if place.chips == 1 else 'chips'}: at most {largest:,} do.",
        hint="Give a smaller --batch, a shorter --context, --cache int8 or more chips.",
    )


def _bytes(value: sp.Expr) -> str:
    return format_quantity(value, "B", 4)
