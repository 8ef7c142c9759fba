"""`symscale model`: parameters, FLOPs, KV cache and intensity of a transformer, from its config."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from symscale.cli.options import FORMAT, OUTPUT, text_option, with_options
from symscale.cli.output import OwnCommand, style_of, write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symscale.transformer.block import Block
    from symscale.transformer.breakdown import Asked
    from symscale.transformer.config import Config

LARGEST = 10**18


def names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a model."""
    from symscale.transformer.catalogue import catalogue

    return [name for name in catalogue() if name.startswith(incomplete)]


@click.command(cls=OwnCommand)
@click.argument("config", default="", shell_complete=names, metavar="[CONFIG]")
@with_options(
    text_option("--seq", metavar="8192", help="Length of a sequence; without it T and S stay open."),
    text_option("--batch", metavar="256", help="Sequences in a batch."),
    text_option("--tokens", metavar="15e12", help="Tokens of the whole training."),
    click.option("--dtype", default="bf16", show_default=True, help="Dtype of the weights."),
    text_option("--kv-dtype", metavar="int8", help="Dtype of the KV cache, if another."),
    click.option("--causal/--not-causal", default=True, show_default=True, help="Whether a query sees later keys."),
    click.option("--remat", default="none", show_default=True, help="Computed again: none, selective, scores, full."),
    click.option("--blocks", is_flag=True, help="Show the programs the model consists of."),
    FORMAT,
    OUTPUT,
)
def model(
    config: str,
    seq: str,
    batch: str,
    tokens: str,
    dtype: str,
    kv_dtype: str,
    causal: bool,
    remat: str,
    blocks: bool,
    style: str,
    output: str,
) -> None:
    """Break a transformer down: CONFIG is a known name, or the config.json of a Hugging Face model.

    \b
    symscale model
    symscale model qwen3-8b
    symscale model llama3-70b --seq 8192 --batch 256
    symscale model deepseek-v3 --seq 4096 --tokens 14.8e12 --remat full
    symscale model gemma2-9b --seq 32Ki --kv-dtype int8 --format md
    symscale model mixtral-8x7b --blocks
    """
    style = style_of(style)
    _together(config, blocks, style, {"--seq": seq, "--batch": batch, "--tokens": tokens, "--kv-dtype": kv_dtype})
    if not config:
        write("\n".join(all_models()), output)
        return
    from symscale.transformer.breakdown import Asked
    from symscale.transformer.catalogue import model_or_file

    found = model_or_file(config)
    if blocks:
        from symscale.transformer.blocks import blocks as blocks_of

        write("\n".join(programs(blocks_of(found))), output)
        return
    lengths = (count("--seq", seq), count("--batch", batch), count("--tokens", tokens))
    asked = Asked(*lengths, dtype, kv_dtype, causal, remat, readings(seq=seq, batch=batch))
    write(rendered(found, asked, style), output)


def _together(config: str, blocks: bool, style: str, others: Mapping[str, str]) -> None:
    """Refuse options that a list of models, or of programs, has no use for. Raises SymscaleError."""
    from symscale.errors import SymscaleError

    if config and not blocks:
        return
    what = "--blocks" if blocks else "The list of known models"
    unused = [*(option for option, word in others.items() if word), *(["--blocks"] if blocks and not config else [])]
    if unused:
        way = f"Leave {unused[0]} out{', or --blocks' if config else ', or name a model'}."
        raise SymscaleError(f"{what} has no use for {unused[0]}.", hint=way)
    if style != "text":
        way = "The breakdown has the programs in every format: leave --blocks out." if blocks else "Name a model."
        raise SymscaleError(f"{what} is printed as text only, and --format {style} is asked for.", hint=way)


def rendered(config: Config, asked: Asked, style: str) -> str:
    """Return the breakdown of a model in the format asked for."""
    from symscale.report import model as report
    from symscale.transformer.breakdown import breakdown

    found = breakdown(config, asked)
    return report.model_json(found) if style == "json" else report.model_report(found, style)


def all_models() -> list[str]:
    """Return a line per known model: parameters, active ones, layers, attention, source."""
    from symscale.report.grid import Column, aligned
    from symscale.transformer import active_count, catalogue, parameter_count
    from symscale.transformer import model as architecture

    right = ("parameters", "active", "layers")
    columns = [Column(head, head in right) for head in ("model", "type", *right, "aliases")]
    rows = []
    for name, entry in catalogue().items():
        config = architecture(name)
        active = f"{active_count(config):,}" if config.experts else ""
        sizes = (f"{parameter_count(config):,}", active, str(config.L))
        rows.append((name, config.model_type, *sizes, ", ".join(entry.aliases)))
    return [*aligned(columns, rows), "", "Every number follows from the fields and the source in the catalogue."]


def programs(found: Sequence[Block]) -> list[str]:
    """Return the blocks of a model: how often each occurs, and its program."""
    from symscale.notation.text import to_text

    lines = []
    for block in found:
        lines.append(f"{to_text(block.count)} × {block.part}: {block.name}")
        lines += [f"    {statement}" for statement in block.text.split("; ")]
    return lines


def count(option: str, word: str) -> int:
    """Return the whole number of an option, 0 where it is not given: 8192, 32Ki, 15e12. Raises SymscaleError."""
    if not word:
        return 0
    from symscale.errors import SymscaleError
    from symscale.notation.formula import parse_assignments

    name = option.lstrip("-").replace("-", "_")
    value = parse_assignments(f"{name}={word}")[name]
    if value.is_Integer and value > LARGEST:
        raise SymscaleError(f"{option} is {word[:40]!r}.", hint=f"Give a positive whole number up to {LARGEST:,}.")
    if not (value.is_Integer and value > 0):
        raise SymscaleError(f"{option} is {word[:40]!r}.", hint="Give a positive whole number, such as 8192 or 15e12.")
    return int(value)


def readings(**words: str) -> tuple[str, ...]:
    """Return what `128k` was read as, and how the other reading is written."""
    thousands = ((name, word) for name, word in words.items() if word.endswith("k") and word[:-1].isdecimal())
    return tuple(
        f"--{name} {word} is {int(word[:-1]) * 1000:,}; {int(word[:-1]) * 1024:,} is written {word[:-1]}Ki."
        for name, word in thousands
    )
