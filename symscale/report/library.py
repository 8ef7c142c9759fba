"""The whole library rendered: one Markdown and one LaTeX file per derivation file, and an index."""

from __future__ import annotations

import ast
from pathlib import Path

from symscale.derivation.registry import files, written
from symscale.errors import SymscaleError
from symscale.exercise import coverage
from symscale.report import errata
from symscale.report.document import latex, markdown
from symscale.report.files import write_atomically
from symscale.report.prose import escape_markdown


def render_all(folder: str | Path = "reports", *, check: bool = False) -> list[Path]:
    """Render every derivation live and return the files that changed; with `check` nothing is written.

    Files are written one by one, each in one piece; an interrupted run leaves every file old or new.
    """
    target = Path(folder)
    if not check:
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SymscaleError(
                f"The folder {target} cannot be made: {error.strerror}.",
                hint="Give a folder you may write to.",
            ) from error
    changed = []
    for name, text in rendered().items():
        file = target / name
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        changed.append(file)
        if not check:
            write_atomically(file, text)
    return changed


def rendered() -> dict[str, str]:
    """Return the text of every report by file name."""
    found: dict[str, str] = {}
    index = ["# Derivations", ""]
    for file, ids in files().items():
        derivations = [written(each) for each in ids]
        title, name = heading(file), file.stem
        while f"{name}.md" in found:
            name += "_"  # a file of the same name in another folder
        found[f"{name}.md"] = markdown(*derivations, title=title)
        found[f"{name}.tex"] = latex(*derivations, title=title, document=True)
        index += [f"- [{escape_markdown(title)}]({name}.md) ([LaTeX]({name}.tex))"]
        index += [
            f"  - `{each}`: {escape_markdown(derivation.title)}"
            for each, derivation in zip(ids, derivations, strict=True)
        ]
    found["errata.md"] = _errata()
    index += ["", "[Errata](errata.md): printed answers that differ from what is derived, and why."]
    found["README.md"] = "\n".join(index) + "\n"
    return found


def _errata() -> str:
    chapters = list(coverage.chapters())
    return f"# Printed answers\n\n{errata.coverage(chapters, 'md')}\n\n{errata.errata(chapters)}\n"


def heading(file: Path) -> str:
    """Return the title of a derivation file: the first line of its docstring, else its name."""
    lines = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").splitlines()
    return lines[0].rstrip(".") if lines else file.stem.replace("_", " ").capitalize()
