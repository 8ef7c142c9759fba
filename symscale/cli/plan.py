"""`symscale plan`: the meshes on which a model trains fastest, and the conditions under which they do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from symscale.cli.model import count, names
from symscale.cli.options import OUTPUT, chip, text_option, with_options
from symscale.cli.output import OwnCommand, write

if TYPE_CHECKING:
    from symscale.machine import Machine
    from symscale.transformer.setting import Setting

STYLES = ("text", "md", "latex", "json", "csv")
MOST_CHIPS = 1_000_000
FEW_CHIPS = 64  # an example of a cluster
MOST_ROWS = 10_000


@click.command(cls=OwnCommand)
@click.argument("model", shell_complete=names)
@with_options(
    text_option("--on", metavar="h100:1024", help="A chip, a slice such as tpu-v5p:8x16x16, or a cluster h100:1024."),
    text_option("--machine", "machine_file", metavar="FILE.toml", help="A chip of your own."),
    text_option("--chips", metavar="1024", help="Number of chips, where --on names a chip alone."),
    text_option("--tokens-per-batch", "batch", metavar="4Mi", help="Tokens in a step."),
    text_option("--seq", metavar="8192", help="Length of a sequence."),
    text_option("--tokens", metavar="15e12", help="Tokens of the whole training: adds days, chip hours and cost."),
    click.option("--dtype", default="bf16", show_default=True, help="Dtype of weights, gradients and activations."),
    click.option(
        "--optimizer", default="adam", show_default=True, help="adam, adam-8bit, adam-no-master, momentum, sgd, …"
    ),
    click.option(
        "--remat", default="selective", show_default=True, help="Checkpointing: none, selective, products, block, full."
    ),
    click.option("--overlap", default="max", show_default=True, help="max, axes-serial or sum."),
    click.option("--schedule", default="1f1b", show_default=True, help="Pipeline: 1f1b or gpipe."),
    click.option("--causal/--not-causal", default=True, show_default=True, help="Whether a query sees later keys."),
    text_option("--reserve", metavar="0.1", help="Part of the memory that stays free."),
    text_option("--top", metavar="10", help="How many meshes to show."),
    click.option("--format", "style", default="", show_default="text", help="text, md, latex, json or csv."),
    click.option("--json", "as_json", is_flag=True, help="Short for --format json."),
    click.option("--csv", "as_csv", is_flag=True, help="Short for --format csv."),
    OUTPUT,
)
def plan(
    model: str,
    on: str,
    machine_file: str,
    chips: str,
    batch: str,
    seq: str,
    tokens: str,
    dtype: str,
    optimizer: str,
    remat: str,
    overlap: str,
    schedule: str,
    causal: bool,
    reserve: str,
    top: str,
    style: str,
    as_json: bool,
    as_csv: bool,
    output: str,
) -> None:
    """Compare every mesh of a cluster for one training step of MODEL, a known name or a config.json.

    \b
    symscale plan llama3-70b --on h100:1024 --tokens-per-batch 4Mi --seq 8192
    symscale plan llama2-13b --on tpu-v5p --chips 512 --tokens-per-batch 1Mi --seq 4096 --top 3
    symscale plan deepseek-v3 --on h100 --chips 2048 --tokens-per-batch 60Mi --seq 4096 --tokens 14.8e12
    symscale plan mixtral-8x7b --on tpu-v5p:4x8x8 --tokens-per-batch 2Mi --seq 4096 --csv
    """
    from symscale.errors import SymscaleError
    from symscale.transformer.catalogue import model_or_file
    from symscale.transformer.config import check_length
    from symscale.transformer.training import training

    style = format_of(style, as_json, as_csv)
    config = model_or_file(model)
    cluster, number = cluster_of(on, machine_file, count("--chips", chips))
    setting = setting_of(batch, seq, dtype, remat, optimizer, overlap, schedule, causal)
    check_length(config, setting.length, "--seq")
    shown = count("--top", top) or 10
    if shown > MOST_ROWS:
        raise SymscaleError(f"--top {shown:,} is more than {MOST_ROWS:,} rows.", hint="Show fewer.")
    found = training(
        config, setting, cluster, number, top=shown, tokens=count("--tokens", tokens), reserve=fraction(reserve)
    )
    from symscale.report.plans import plan_csv, plan_json, plan_report

    whole = {"json": plan_json, "csv": plan_csv}.get(style)
    write(whole(found) if whole is not None else plan_report(found, style), output)


def format_of(style: str, as_json: bool, as_csv: bool) -> str:
    """Return the one format asked for, text if none is. Raises SymscaleError for an unknown one, and for two."""
    from symscale.errors import SymscaleError

    asked = dict.fromkeys(each for each in (style, "json" * as_json, "csv" * as_csv) if each) or {"text": None}
    if len(asked) > 1:
        raise SymscaleError(f"Two formats are asked for, {' and '.join(asked)}.", hint="Leave one of them out.")
    (word,) = asked
    if word not in STYLES:
        raise SymscaleError(f"Unknown format {word[:40]!r}.", hint=f"Use one of {', '.join(STYLES)}.")
    return word


def setting_of(
    batch: str, seq: str, dtype: str, remat: str, optimizer: str, overlap: str, schedule: str, causal: bool
) -> Setting:
    """Return how the model is trained. Raises SymscaleError naming the option that is missing or unknown."""
    from symscale.array.dtypes import dtype as known_dtype
    from symscale.cost import OVERLAPS
    from symscale.errors import SymscaleError
    from symscale.transformer.footprint import POLICIES
    from symscale.transformer.setting import OPTIMIZERS, Setting

    tokens, length = count("--tokens-per-batch", batch), count("--seq", seq)
    for option, number, example in (("--tokens-per-batch", tokens, "4Mi"), ("--seq", length, "8192")):
        if not number:
            raise SymscaleError(f"A plan needs {option}.", hint=f"Give a number, such as {option} {example}.")
    choices = (
        ("--remat", remat, tuple(POLICIES)),
        ("--optimizer", optimizer, tuple(OPTIMIZERS)),
        ("--overlap", overlap, OVERLAPS),
        ("--schedule", schedule, ("1f1b", "gpipe")),
    )
    for option, word, known in choices:
        if word not in known:
            raise SymscaleError(f"{option} {word[:40]!r} is unknown.", hint=f"Use one of {', '.join(known)}.")
    return Setting(tokens, length, known_dtype(dtype), remat, optimizer, overlap, schedule, causal)


def cluster_of(on: str, machine_file: str, chips: int) -> tuple[Machine, int]:
    """Return the cluster that the options name, and its number of chips. Raises SymscaleError."""
    from symscale.errors import SymscaleError
    from symscale.machine.shapes import chips_of, sized, smallest

    found = chip(on, machine_file)
    if found is None:
        raise SymscaleError("A plan needs a machine.", hint="Name it: --on h100:1024, or --on tpu-v5p --chips 512.")
    number = chips or chips_of(found)
    if not number:
        larger = smallest(found, FEW_CHIPS) or smallest(found, 2)
        raise SymscaleError(
            f"{found.title} is one chip, and no number of them is given.",
            hint=f"Give --chips 1, or several{f' such as --on {larger}' if larger and on else ' as in --chips 8'}."
            if larger
            else "No network of known size joins several: give --chips 1, or a chip that comes in clusters.",
        )
    if number > MOST_CHIPS:
        raise SymscaleError(f"{number:,} chips are more than any cluster has.", hint=f"At most {MOST_CHIPS:,}.")
    return sized(found, number), number


def fraction(word: str) -> float:
    """Return a part of a whole, 0 where it is not given: 0.1 or 10%. Raises SymscaleError."""
    from symscale.errors import SymscaleError
    from symscale.notation.formula import parse_formula

    if not word:
        return 0.0
    value = parse_formula(word).expr
    if not (value.is_number and value.is_real and 0 <= value < 1):
        raise SymscaleError(f"--reserve is {word[:40]!r}.", hint="Give a part of the memory from 0 to below 1.")
    return float(value)
