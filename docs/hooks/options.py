"""The reference of the command line, from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from writing import plain, table

from symscale.cli.options import filled


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
    options = [each for each in command.params if each.param_type_name == "option"]
    rows = [_option(each, context) for each in options]
    return "\n\n".join(
        [
            f"### {context.info_name.removeprefix('symscale ')} {{ #options-{command.name} }}",
            f"```text\n{usage}\n```",
            *_help(command.help or ""),
            *([table(("Option", "Meaning"), rows)] if rows else []),
        ]
    )


def _option(option: Any, context: Any) -> tuple[str, str]:
    names = ", ".join(f"`{each}`" for each in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" `{option.make_metavar(context).strip('[]')}`"
    notes = [f"default `{option.default}`"] if option.show_default and option.default not in (None, "") else []
    notes += ["required"] if option.required else []
    notes += ["may be repeated"] if option.multiple and option.callback is not filled else []
    return f"{names}{value}", " ".join([words(option.help or ""), f"({', '.join(notes)})" if notes else ""]).strip()


def words(text: str) -> str:
    """Return a sentence of a command's help, options in it as code."""
    return re.sub(r"(?<!\S)(--[a-z-]+)", r"`\1`", plain(text))


def _help(text: str) -> Iterator[str]:
    """Yield the paragraphs of a command's help; those that keep their lines are examples."""
    from inspect import cleandoc

    for paragraph in re.split(r"\n\s*\n", cleandoc(text)):
        if paragraph.startswith("\b"):
            yield from _examples(paragraph.removeprefix("\b").strip("\n"))
        else:
            yield words(" ".join(paragraph.split()))


def _examples(text: str) -> Iterator[str]:
    """Yield examples as code; a line above an indented command says what it does, as a comment."""
    written: list[str] = []
    for line in text.splitlines():
        goes_on = bool(written) and written[-1].endswith("\\")
        runs = goes_on or re.match(r"\s*symscale |\s{2,}", line)
        written.append(f"{'    ' if goes_on else '' if runs else '# '}{line.strip()}")
    yield "\n".join(["```sh", *written, "```"])
