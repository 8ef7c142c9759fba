"""`symscale serve`: what a model needs and yields when it is served on a slice or a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symscale.cli.model import count, names, readings
from symscale.cli.options import FORMAT, MACHINE, OUTPUT, chips, text_option, with_options
from symscale.cli.output import OwnCommand, style_of, write

if TYPE_CHECKING:
    import sympy as sp

    from symscale.transformer.config import Config
    from symscale.transformer.serving import Place, Served

CONTEXT = "8192"


@click.command(cls=OwnCommand)
@click.argument("config", shell_complete=names)
@with_options(
    text_option("--on", "on", metavar="SLICE", shell_complete=chips, help="A slice or a cluster: tpu-v5e:4x4, h100:8."),
    MACHINE,
    text_option("--batch", metavar="1:512:*2", help="Batches: a number, a list or a range; without it the usual ones."),
    text_option("--context", metavar=CONTEXT, help=f"Tokens of each sequence in the cache; {CONTEXT} if left out."),
    text_option("--prompt", metavar="6144", help="Tokens of a prompt: prefill and its chunks."),
    text_option("--generate", metavar="512", help="Tokens generated: prefill servers per decode server."),
    click.option("--weights", default="bf16", show_default=True, help="Dtype of the weights."),
    click.option("--cache", default="bf16", show_default=True, help="Dtype of the KV cache."),
    click.option("--compute", default="bf16", show_default=True, help="Dtype whose peak the arithmetic has."),
    click.option("--experts", "touched", default="all", show_default=True, help="Experts read: all or expected."),
    text_option("--draft", metavar="MODEL|0.1", help="Speculative decoding: a draft model, or its cost in steps."),
    text_option("--accept", metavar="0.8", help="Chance that a drafted token is accepted."),
    text_option("--page", metavar="16", help="Tokens of a page of the cache."),
    click.option("--csv", "as_csv", is_flag=True, help="The table alone, as CSV."),
    FORMAT,
    OUTPUT,
)
def serve(config: str, on: str, machine_file: str, style: str, output: str, as_csv: bool, **options: Any) -> None:
    """Show how CONFIG, a known model or a config.json, is served: what fits, step times, throughput, what binds.

    \b
    symscale serve llama2-13b --on tpu-v5e:4x2
    symscale serve llama3-70b --on tpu-v5e:4x4 --weights int8 --cache int8 --batch 1:512:*2
    symscale serve llama3-70b --on tpu-v5e:4x4 --weights int8 --context 8704 --prompt 8192 --generate 512
    symscale serve llama3-70b --on h100:8 --draft llama3-8b --accept 0.8
    symscale serve deepseek-v3 --on h100:16 --weights fp8 --compute fp8 --experts expected --csv
    """
    style = style_of(style)
    if as_csv and style != "text":
        from symscale.errors import SymscaleError

        raise SymscaleError(f"--csv and --format {style} are both given.", hint="Use one of them.")
    found = _served(config, on, machine_file, options)
    from symscale.report import serving as report

    whole = {"json": report.serving_json, "csv": report.serving_csv}.get("csv" if as_csv else style)
    write(whole(found) if whole is not None else report.serving_report(found, style), output)


def _served(config: str, on: str, machine_file: str, options: dict[str, Any]) -> Served:
    from symscale.transformer.catalogue import model_or_file
    from symscale.transformer.serving import Serve
    from symscale.transformer.serving import serve as served

    lengths = {name: count(f"--{name}", options[name]) for name in ("prompt", "generate", "page")}
    asked = Serve(
        batches=_batches(options["batch"]),
        context=count("--context", options["context"] or CONTEXT),
        weights=options["weights"],
        cache=options["cache"],
        compute=options["compute"],
        touched=options["touched"],
        accept=_share("--accept", options["accept"]),
        draft=_draft(options["draft"]),
        notes=readings(context=options["context"], prompt=options["prompt"], generate=options["generate"]),
        **lengths,
    )
    model = model_or_file(config)
    return served(model, _place(model, on, machine_file), asked)


def _place(model: Config, on: str, machine_file: str) -> Place:
    from symscale.cli.options import chip as one_of
    from symscale.derivation.decoding import chips_in, pointless_network, step_network
    from symscale.machine import machine
    from symscale.transformer.serving import Place

    chip = one_of(on, machine_file)
    if chip is None:
        from symscale.errors import SymscaleError

        raise SymscaleError(
            "Nothing says where the model is served.",
            hint="Add --on tpu-v5e:4x4, --on h100:8, or --machine with the file of your own chip.",
        )
    number = chips_in(chip, on)
    alone = machine(on.partition(":")[0]) if on else chip
    return Place(chip, number, step_network(model, chip, number), pointless_network(model, alone), alone)


def _batches(text: str) -> tuple[int, ...]:
    """Return the batches of `8`, `1,2,4` or `1:512:*2`: whole numbers from 1. Raises SymscaleError."""
    if not text:
        return ()
    from symscale.errors import SymscaleError
    from symscale.notation.formula import parse_range
    from symscale.transformer.serving import LARGEST_BATCH

    found = parse_range(text, "B")
    for value in found:
        if not (value.is_Integer and 1 <= value <= LARGEST_BATCH):
            raise SymscaleError(
                f"--batch {text[:40]} has {str(value)[:20]}, which is no number of sequences.",
                hint="Give whole numbers from 1, such as 8, 1,2,4 or 1:512:*2.",
            )
    return tuple(sorted({int(value) for value in found}))


def _share(option: str, text: str) -> sp.Rational | None:
    """Return a number strictly between 0 and 1, None where it is not given. Raises SymscaleError."""
    if not text:
        return None
    value = _number(option, text)
    if not 0 < value < 1:
        from symscale.errors import SymscaleError

        raise SymscaleError(f"{option} is {text[:40]!r}.", hint="Give a chance between 0 and 1, such as 0.8.")
    return value


def _draft(text: str) -> Config | sp.Rational | None:
    """Return the draft that a word means: its cost in decode steps, or a model. Raises SymscaleError."""
    if not text:
        return None
    if text[0].isdigit() or text[0] in ".-+":
        value = _number("--draft", text)
        if value > 0:
            return value
        from symscale.errors import SymscaleError

        raise SymscaleError(
            f"--draft costs {text[:40]!r} steps.", hint="Give a positive number such as 0.1, or a model."
        )
    from symscale.transformer.catalogue import model_or_file

    return model_or_file(text)


def _number(option: str, text: str) -> sp.Rational:
    from symscale.errors import SymscaleError
    from symscale.notation.formula import parse_assignments

    name = option.lstrip("-")
    value = parse_assignments(f"{name}={text}")[name]
    if not value.is_Rational:
        raise SymscaleError(f"{option} is {text[:40]!r}, which is no number.", hint="Give one such as 0.8.")
    return value
