"""The reference of the command line, from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from writing import plain, table


def commands() -> str:
    """Return every command of the program: what it does, examples, arguments and options."""
    import click

    from symscale.cli import cli

    return "\n\n".join(
        _command(command, click.Context(command, info_name=f"symscale {name}"))
        for name, command in sorted(cli.commands.items())
    )


def _command(command: Any, context: Any) -> str:
    usage = " ".join([context.info_name, *command.collect_usage_pieces(context)])
    rows = [_option(each, context) for each in command.get_params(context) if each.param_type_name == "option"]
    return "\n\n".join(
        [
            f"### {context.info_name.removeprefix('symscale ')} {{ #options-{command.name} }}",
            f"```text\n{usage}\n```",
            *_help(command.help or ""),
            table(("Option", "Meaning"), rows),
        ]
    )


def _option(option: Any, context: Any) -> tuple[str, str]:
    names = ", ".join(f"`{each}`" for each in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" `{option.make_metavar(context).strip('[]')}`"
    notes = [f"default `{option.default}`"] if option.show_default and option.default not in (None, "") else []
    notes += ["required"] if option.required else []
    notes += ["may be repeated"] if option.multiple else []
    return f"{names}{value}", plain(" ".join([option.help or "", f"({', '.join(notes)})" if notes else ""]).strip())


def _help(text: str) -> Iterator[str]:
    """Yield the paragraphs of a command's help; those that keep their lines are examples."""
    from inspect import cleandoc

    for paragraph in re.split(r"\n\s*\n", cleandoc(text)):
        if paragraph.startswith("\b"):
            yield from _examples(paragraph.removeprefix("\b").strip("\n"))
        else:
            yield plain(" ".join(paragraph.split()))


def _examples(text: str) -> Iterator[str]:
    """Yield examples as code; a line above an indented command says what it does, as a comment."""
    lines = [
        line.strip() if re.match(r"\s*(symscale|--|\S+=)", line) or line.startswith("    ") else f"# {line.strip()}"
        for line in text.splitlines()
    ]
    yield "```sh\n" + "\n".join("    " + line if line.startswith("--") else line for line in lines) + "\n```"
