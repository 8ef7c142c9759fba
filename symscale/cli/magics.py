"""The commands in a notebook: `%load_ext symscale` brings the magics %derive and %%derive."""

from __future__ import annotations

import shlex
from typing import Any

import click

from symscale.cli.derive import answer, derive, printed
from symscale.cli.output import style_of, write
from symscale.errors import SymscaleError
from symscale.notebook.several import Several
from symscale.shown import Shown

ARROW = "->"


class MagicError(SymscaleError):
    """An input that a magic cannot answer: a notebook shows its message, and not where in the engine it came up."""

    def _render_traceback_(self) -> list[str]:
        return [f"symscale: {self}"]


def load(shell: Any) -> None:
    """Give a shell of IPython the magics."""
    from IPython.core.magic import no_var_expand

    # braces are notation: without this IPython would run what stands between them as Python
    @no_var_expand
    def magic(line: str, cell: str | None = None) -> Shown | None:
        return derived(shell, line, cell)

    magic.__doc__ = DOC
    shell.register_magic_function(magic, "line_cell", "derive")


def derived(shell: Any, line: str, cell: str | None = None) -> Shown | None:
    """Return the answer to a line of options and the program of a cell, and give it the names behind an arrow.

    Raises MagicError with the message of whatever is wrong.
    """
    try:
        words, names = _named(_words(line))
        with derive.make_context("derive", _arguments(words, cell)) as context:
            options = dict(context.params)
        chosen = context.get_parameter_source("style") is not click.core.ParameterSource.DEFAULT
        style, output = style_of(options.pop("style"), "html"), options.pop("output")
        answered, table = answer(**options)
        found: Shown = answered if table is None else Several((answered, table))
        _assign(shell, names, found)
        if chosen or output:
            write(printed(answered, table, style), output)
            return None
        return found
    except click.exceptions.Exit:
        return None  # --help has been printed
    except SymscaleError as error:
        raise MagicError(error.message, text=error.text, position=error.position, hint=error.hint) from None
    except click.ClickException as error:
        raise MagicError(error.format_message(), hint="`%derive --help` shows the options and examples.") from None
    except RecursionError:
        raise MagicError("The input is nested too deeply to read.", hint="Name parts of it.") from None


def _words(line: str) -> list[str]:
    """Return the words of a line, quoted as in a shell. Raises SymscaleError where a quote is left open."""
    try:
        return shlex.split(line)
    except ValueError as error:
        at = max(line.rfind(mark) for mark in "\"'\\")
        raise SymscaleError("This quote has no end.", text=line, position=max(at, 0), hint="Close it.") from error


def _named(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the words in front of a last arrow, and the names behind it: `… -> answer`, `… -> answer, table`."""
    if ARROW not in words:
        return words, []
    at = len(words) - 1 - words[::-1].index(ARROW)
    said = " ".join(words[at + 1 :])
    names = [each.strip() for each in said.split(",")]
    for each in names:
        if not each.isidentifier():
            raise SymscaleError(
                f"{each[:40]!r} is no name of a variable." if each else "The arrow names no variable.",
                hint='Write `-> answer` at the end; a program on the line stands in quotes: %derive "A[I] -> …".',
            )
    return words[:at], names


def _arguments(words: list[str], cell: str | None) -> list[str]:
    """Return the arguments of the command: with a cell, the cell is its program."""
    if cell is None:
        return words
    if not cell.strip():
        raise SymscaleError("The cell has no program.", hint="Write it below the line: x[B, D] * W[D, F] -> y[B, F]")
    return [cell.strip("\n"), *words]


def _assign(shell: Any, names: list[str], found: Shown) -> None:
    if len(names) > 1:
        parts = tuple(found) if isinstance(found, Several) else (found,)
        if len(parts) != len(names):
            raise SymscaleError(
                f"There are {len(names)} names, and the answer has {len(parts)} part{'s' * (len(parts) > 1)}.",
                hint="A table of its own comes with --table.",
            )
        shell.push(dict(zip(names, parts, strict=True)))
    elif names:
        shell.push({names[0]: found})


DOC = """Derive collectives, costs, times and crossovers of a sharded program, with the options of `symscale derive`.

    %%derive --solve B --on tpu-v5p -> answer
    In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]

    answer = %derive "x[B, D] * W[D, F] -> y[B, F]" --solve B --on tpu-v5e --passes forward

The cell is the program, of as many lines as it needs. `-> answer` at the end of the line names the result;
with --table, `-> answer, table` names both parts. `--format latex` prints the source instead, `-o FILE` writes it.
"""
