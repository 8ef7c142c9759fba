"""Parts of pages that are made from the program and its data, so that they cannot differ from it.

A line `<!-- generated: NAME -->` of a page becomes what the function of that name returns, in Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from live import live
from mkdocs.exceptions import PluginError
from options import commands
from pictures import pictures, reports
from writing import number, plain, table

_MARK = re.compile(r"^<!-- generated: ([\w-]+) -->$", re.MULTILINE)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    def made(found: re.Match[str]) -> str:
        if found[1] not in MADE:
            raise PluginError(f"{page.file.src_uri}: no part is called {found[1]!r}; there are {', '.join(MADE)}.")
        return MADE[found[1]]()

    return _MARK.sub(made, markdown)


def symbols() -> str:
    """Return the vocabulary: every symbol with its meaning and unit."""
    from symscale.vocabulary import TABLE

    rows = [(f"`{each.name}`", f"${each.latex}$", plain(each.meaning), each.unit or "1") for each in TABLE.values()]
    return table(("Typed", "Printed", "Meaning", "Unit"), rows)


def chips() -> str:
    """Return every chip that comes with symscale, each value with the source that states it."""
    from symscale.machine import machine, machines

    return "\n\n".join(_chip(machine(name)) for name in machines())


def _chip(chip: Any) -> str:
    from symscale.report.chips import HEADS, chip_notes, chip_rows

    notes = [f"- `--on {chip.name}`", *(re.sub(r"^( *)", r"\1\1- ", plain(each)) for each in chip_notes(chip))]
    rows = [
        (f"`{name}`" if name == name.strip() else name.strip(), number(value), *map(plain, others))
        for name, value, *others in chip_rows(chip)
    ]
    heads = tuple(each.capitalize() for each in HEADS)
    return "\n\n".join([f"## {chip.title} {{ #{chip.name} }}", "\n".join(notes), table(heads, rows)])


def models() -> str:
    """Return the models of the catalogue, counted from their fields, and where the fields were read."""
    from symscale.transformer import active_count, catalogue, parameter_count
    from symscale.transformer import model as architecture

    rows = []
    for name, entry in catalogue().items():
        config = architecture(name)
        active = f"{active_count(config):,}" if config.experts else ""
        names = ", ".join(f"`{each}`" for each in (name, *entry.aliases))
        rows.append((names, f"`{config.model_type}`", f"{parameter_count(config):,}", active, plain(entry.source)))
    return table(("Model", "Type", "Parameters", "Active", "Source"), rows)


def errors() -> str:
    """Return the family of errors, with what each of them is about."""
    import symscale.errors

    found = [each for each in vars(symscale.errors).values() if isinstance(each, type)]
    rows = [(f"`{each.__name__}`", plain((each.__doc__ or "").partition("\n")[0])) for each in found]
    return table(("Error", "Raised for"), rows)


MADE: dict[str, Callable[[], str]] = {
    each.__name__: each for each in (commands, symbols, chips, models, errors, pictures, live, reports)
}
