"""`symscale memory`: what a chip holds in a training step, in closed form and bytes, and what fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symscale.cli.model import count, names
from symscale.cli.options import FORMAT, MACHINE, OUTPUT, sizes, text_option, with_options
from symscale.cli.output import OwnCommand, style_of, write

if TYPE_CHECKING:
    from symscale.machine import Machine
    from symscale.transformer.config import Config
    from symscale.transformer.fit import Job
    from symscale.transformer.setting import Setting

MOST_CHIPS = 1_000_000


@click.command(cls=OwnCommand)
@click.argument("model", shell_complete=names)
@with_options(
    text_option("--mesh", metavar="data=8,fsdp=16", help="Axes: data, fsdp, expert, context, tensor, pipe."),
    text_option("--tokens-per-batch", "batch", metavar="4Mi", help="Tokens in a step."),
    text_option("--seq", metavar="8192", help="Length of a sequence."),
    text_option("--microbatches", metavar="8", help="Parts that a step accumulates gradients over."),
    text_option("--on", metavar="h100", help="A chip, for what fits; a cluster if it has as many chips as the mesh."),
    MACHINE,
    click.option("--dtype", default="bf16", show_default=True, help="Dtype of weights and activations."),
    text_option("--gradients", metavar="fp32", help="Dtype of gradients, if another."),
    click.option("--optimizer", default="adam", show_default=True, help="adam, adam-bf16, adam-8bit, sgd, …"),
    click.option("--zero", default="1", show_default=True, help="ZeRO stage over the copies of weights: 0 to 3."),
    click.option("--remat", default="selective", show_default=True, help="none, selective, products, block, full."),
    click.option("--sequence/--no-sequence", default=True, show_default=True, help="Split positions over tensor."),
    click.option("--dropout", is_flag=True, help="Count the masks of dropout."),
    text_option("--offload", metavar="optimizer", help="On the host: weights, gradients, optimizer, activations."),
    click.option("--schedule", default="1f1b", show_default=True, help="gpipe, 1f1b, interleaved, zb-h1, zb-h2."),
    text_option("--chunks", metavar="2", help="Chunks of layers per stage, where interleaved."),
    text_option("--reserve", metavar="0.1", help="Part of the memory that stays free."),
    FORMAT,
    OUTPUT,
)
def memory(model: str, style: str, output: str, **options: Any) -> None:
    """Count what a chip holds when MODEL, a known name or a config.json, is trained, and what fits.

    \b
    symscale memory llama3-8b --tokens-per-batch 8192 --seq 8192 --on h100
    symscale memory llama3-70b --mesh fsdp=128,tensor=8 --tokens-per-batch 8Mi --seq 8192 --microbatches 4 --on h100
    symscale memory gpt3-175b --mesh tensor=8,pipe=8 --tokens-per-batch 128Ki --seq 2048 --microbatches 64 --dropout
    symscale memory llama2-13b --mesh fsdp=64 --tokens-per-batch 1Mi --seq 4096 --on tpu-v5p --offload optimizer
    """
    from symscale.report.memory import memory_json, memory_report
    from symscale.transformer.budget import budget

    style = style_of(style)
    job, machine = job_of(model, options)
    found = budget(job, machine)
    write(memory_json(found) if style == "json" else memory_report(found, style), output)


def job_of(model: str, options: dict[str, Any]) -> tuple[Job, Machine | None]:
    """Return the training step that the options describe, and its machine. Raises SymscaleError."""
    from dataclasses import replace
    from math import prod

    from symscale.cli.plan import fraction
    from symscale.transformer.catalogue import model_or_file
    from symscale.transformer.config import check_length, validate
    from symscale.transformer.fit import Job

    config = model_or_file(model)
    if options["dropout"]:
        config = validate(replace(config, dropout=True))
    mesh = mesh_of(options["mesh"], config)
    setting = setting_of(options)
    if not setting.sequence and mesh.get("tensor", 1) == 1:
        raise _wrong("--no-sequence keeps positions whole over tensor, and the mesh has no such axis.", "Leave it out.")
    check_length(config, setting.length, "--seq")
    machine = _machine(options["on"], options["machine_file"], prod(mesh.values()))
    room = None
    if machine is not None:
        room = _capacity(machine) * (1 - _exact(fraction(options["reserve"])))
    elif options["reserve"]:
        raise _wrong("--reserve is a part of a machine's memory, and none is named.", "Add --on h100.")
    many = count("--microbatches", options["microbatches"]) or 1
    return Job(config, setting, mesh, many, room, _heads(config, mesh.get("tensor", 1))), machine


def mesh_of(text: str, config: Config) -> dict[str, int]:
    """Return the sizes of a mesh's axes, `data=8,tensor=4`. Raises SymscaleError naming what is no axis or size."""
    from math import prod

    from symscale.machine.model import did_you_mean
    from symscale.transformer.meshes import ORDER

    found = sizes(text)
    for name, length in found.items():
        if name not in ORDER:
            raise _wrong(f"There is no mesh axis {name[:40]!r}.", f"Use {', '.join(ORDER)}.{did_you_mean(name, ORDER)}")
        if not length.is_Integer:
            raise _wrong(f"The mesh axis {name} is no number.", f"Give a whole number from 1, such as {name}=8.")
    if found.get("expert", 1) != 1 and config.experts is None:
        raise _wrong(f"{config.name} has no experts to split.", "Leave the axis expert out.")
    chips = prod(int(length) for length in found.values())
    if chips > MOST_CHIPS:
        raise _wrong(f"{chips:,} chips are more than any cluster has.", f"At most {MOST_CHIPS:,}.")
    return {name: int(length) for name, length in found.items()}


def setting_of(options: dict[str, Any]) -> Setting:
    """Return how the model is trained. Raises SymscaleError naming the option that is missing or unknown."""
    from symscale.array.dtypes import dtype
    from symscale.transformer.footprint import POLICIES
    from symscale.transformer.pipeline import RULES
    from symscale.transformer.setting import OPTIMIZERS, Setting

    tokens, length = count("--tokens-per-batch", options["batch"]), count("--seq", options["seq"])
    for option, number, example in (("--tokens-per-batch", tokens, "4Mi"), ("--seq", length, "8192")):
        if not number:
            raise _wrong(f"Memory needs {option}.", f"Give a number, such as {option} {example}.")
    choices = (
        ("--remat", options["remat"], tuple(POLICIES)),
        ("--optimizer", options["optimizer"], tuple(OPTIMIZERS)),
        ("--zero", options["zero"], ("0", "1", "2", "3")),
        ("--schedule", options["schedule"], tuple(RULES)),
    )
    for option, word, known in choices:
        if word not in known:
            raise _wrong(f"{option} {word[:40]!r} is unknown.", f"Use one of {', '.join(known)}.")
    return Setting(
        tokens,
        length,
        dtype(options["dtype"]),
        options["remat"],
        options["optimizer"],
        schedule=options["schedule"],
        zero=int(options["zero"]),
        gradients=dtype(options["gradients"]) if options["gradients"] else "",
        sequence=options["sequence"],
        chunks=_chunks(options),
        offloaded=_offloaded(options["offload"]),
    )


def _chunks(options: dict[str, Any]) -> int:
    found = count("--chunks", options["chunks"])
    interleaved = options["schedule"] == "interleaved"
    if found and not interleaved:
        raise _wrong(f"--chunks {found} belongs to another schedule.", "Add --schedule interleaved, or leave it out.")
    if interleaved and not found:
        raise _wrong("An interleaved schedule needs the chunks of a stage.", "Give --chunks 2.")
    return found or 1


def _offloaded(text: str) -> tuple[str, ...]:
    from symscale.transformer.memory import STATES

    known = (*STATES, "activations")
    found = tuple(word.strip() for word in text.split(",")) if text else ()
    for word in found:
        if word not in known:
            raise _wrong(f"--offload {word[:40]!r} is no part of the memory.", f"Use {', '.join(known)}.")
        if found.count(word) > 1:
            raise _wrong(f"--offload names {word} twice.", "Name it once.")
    return found


def _heads(config: Config, tensor: int) -> str:
    """Return G where key/value heads have to be copied over `tensor`, because it splits the queries of each."""
    from symscale.transformer.config import Attention

    attention = config.attention
    if not isinstance(attention, Attention) or attention.K % tensor == 0:
        return "K"
    return "G" if attention.N_heads // attention.K % tensor == 0 else "K"


def _machine(on: str, file: str, chips: int) -> Machine | None:
    from symscale.cli.options import chip
    from symscale.machine.shapes import chips_of

    found = chip(on, file)
    known = chips_of(found) if found is not None else 0
    if found is not None and known > 1 and known != chips:
        raise _wrong(
            f"The mesh has {chips:,} chips, and {found.title} {known:,}.",
            "Let the product of --mesh be the chips of --on, or name the chip alone.",
        )
    return found


def _capacity(machine: Machine) -> Any:
    if machine.hbm_capacity is None:
        raise _wrong(f"{machine.title} has no memory size.", "State capacity in its file, section [hbm].")
    return machine.hbm_capacity


def _exact(value: float) -> Any:
    from symscale.vocabulary import expression

    return expression(value)


def _wrong(message: str, hint: str) -> Exception:
    from symscale.errors import SymscaleError

    return SymscaleError(message, hint=hint)
