"""Symbolic derivations of LLM scaling maths from one line of sharded notation.

    from symscale import Question, derive
    print(derive(Question("x[B, D] * W[D, F] -> y[B, F]", solve="B", on="tpu-v5e")))

Names are loaded when first used, so importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symscale import derivation, machine, partition
    from symscale.array import Layout, Program
    from symscale.collectives import cost as collective_cost
    from symscale.cost import Times, times
    from symscale.derivation.builder import Builder
    from symscale.derivation.comparison import Compared, compare
    from symscale.derivation.formulae import Asked, solve_relation
    from symscale.derivation.layer import Layer, lay
    from symscale.derivation.question import Answered, Question, derive
    from symscale.derivation.registry import ids, written
    from symscale.derivation.served import Inference, inference, summed
    from symscale.derivation.stack import Table, stacked, tabulated
    from symscale.derivation.step import Derivation, Step, verify
    from symscale.derivation.trained import Training, training
    from symscale.errors import SymscaleError
    from symscale.hlo import address, indices, read_hlo, work_of
    from symscale.machine import Machine, load_machine, machines
    from symscale.notation.elaborate import elaborate
    from symscale.notation.formula import parse_assignments, parse_formula, parse_limits, parse_relation
    from symscale.notation.latex import to_latex
    from symscale.notation.numbers import format_number, format_quantity
    from symscale.notation.text import to_text
    from symscale.page.page import html
    from symscale.report import json, latex, markdown, text
    from symscale.solve import Case, Interval, Limit, Relation, Solution, approximate, crossover, minimise, regimes
    from symscale.transformer.inference import distinct_experts
    from symscale.transformer.serving_batching import (
        page_occupancy,
        prefix_flops,
        reserved_occupancy,
        static_occupancy,
        wasted_slots,
    )
    from symscale.transformer.serving_prefill import evicted_per_step, finished_per_second
    from symscale.transformer.serving_speculation import expected_tokens, speedup
    from symscale.vocabulary import symbol

# Name -> the module it is in, and its name there. `derivation`, `machine` and `partition` are packages that can be
# called: the decorator of a derivation file, the look-up of a chip, the partitioner.
_PLACES = {
    "collectives": "collective_cost=cost",
    "array": "Layout Program",
    "cost": "Times times",
    "derivation.builder": "Builder",
    "derivation.comparison": "Compared compare",
    "derivation.formulae": "Asked solve_relation",
    "derivation.layer": "Layer lay",
    "derivation.question": "Answered Question derive",
    "derivation.registry": "ids written",
    "derivation.served": "Inference inference summed",
    "derivation.stack": "Table stacked tabulated",
    "derivation.step": "Derivation Step verify",
    "derivation.trained": "Training training",
    "errors": "SymscaleError",
    "hlo": "address indices read_hlo work_of",
    "machine": "Machine load_machine machines",
    "notation.elaborate": "elaborate",
    "notation.formula": "parse_assignments parse_formula parse_limits parse_relation",
    "notation.latex": "to_latex",
    "notation.numbers": "format_number format_quantity",
    "notation.text": "to_text",
    "page.page": "html",
    "report": "json latex markdown text",
    "solve": "Case Interval Limit Relation Solution approximate crossover minimise regimes",
    "transformer.inference": "distinct_experts",
    "transformer.serving_batching": "page_occupancy prefix_flops reserved_occupancy static_occupancy wasted_slots",
    "transformer.serving_prefill": "evicted_per_step finished_per_second",
    "transformer.serving_speculation": "expected_tokens speedup",
    "vocabulary": "symbol",
}
_PACKAGES = ("derivation", "machine", "partition")
_NAMES = {
    public: (module, inner or public)
    for module, words in _PLACES.items()
    for public, _, inner in (word.partition("=") for word in words.split())
}

__all__ = [
    "Answered",
    "Asked",
    "Builder",
    "Case",
    "Compared",
    "Derivation",
    "Inference",
    "Interval",
    "Layer",
    "Layout",
    "Limit",
    "Machine",
    "Program",
    "Question",
    "Relation",
    "Solution",
    "Step",
    "SymscaleError",
    "Table",
    "Times",
    "Training",
    "address",
    "approximate",
    "collective_cost",
    "compare",
    "crossover",
    "derivation",
    "derive",
    "distinct_experts",
    "elaborate",
    "evicted_per_step",
    "expected_tokens",
    "finished_per_second",
    "format_number",
    "format_quantity",
    "html",
    "ids",
    "indices",
    "inference",
    "json",
    "latex",
    "lay",
    "load_machine",
    "machine",
    "machines",
    "markdown",
    "minimise",
    "page_occupancy",
    "parse_assignments",
    "parse_formula",
    "parse_limits",
    "parse_relation",
    "partition",
    "prefix_flops",
    "read_hlo",
    "regimes",
    "reserved_occupancy",
    "solve_relation",
    "speedup",
    "stacked",
    "static_occupancy",
    "summed",
    "symbol",
    "tabulated",
    "text",
    "times",
    "to_latex",
    "to_text",
    "training",
    "verify",
    "wasted_slots",
    "work_of",
    "written",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _PACKAGES:
        return import_module(f"symscale.{name}")
    if name not in _NAMES:
        raise AttributeError(f"module 'symscale' has no attribute {name!r}")
    module, inner = _NAMES[name]
    found = getattr(import_module(f"symscale.{module}"), inner)
    globals()[name] = found
    return found


def load_ipython_extension(shell: Any) -> None:
    """Give a notebook the magics %derive and %%derive: `%load_ext symscale`."""
    from importlib import import_module

    import_module("symscale.cli.magics").load(shell)


def __dir__() -> list[str]:
    return sorted(__all__)
