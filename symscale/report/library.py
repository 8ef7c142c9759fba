"""The whole library rendered: a Markdown and a LaTeX report of every chapter, the book, the errata, and an index."""

from __future__ import annotations

from pathlib import Path

from symscale.derivation.registry import entry
from symscale.report import errata, manifest
from symscale.report.book import book_latex, book_markdown, chapter_latex, chapter_markdown
from symscale.report.contents import Chapter, wanted
from symscale.report.files import folder as folder_made
from symscale.report.files import write_atomically
from symscale.report.pieces import Rendered, render
from symscale.report.prose import escape_markdown
from symscale.report.reads import watched
from symscale.report.references import References, references


def render_all(
    folder: str | Path = "reports", *, check: bool = False, only: tuple[str, ...] = (), workers: int = 1
) -> list[Path]:
    """Render every derivation live and return the files that changed; with `check` nothing is written.

    `only` names chapters, or ids in them: their reports alone are rendered. Nothing is derived while all that reports
    are made from, and the reports themselves, are as the last run left them. Files are written one by one, each in one
    piece; an interrupted run leaves every file old or new.
    """
    target = Path(folder)
    inputs = manifest.inputs()
    if not only and manifest.current(target, inputs):
        return []
    if not check:
        folder_made(target)
    texts, drawings, read = _rendered(only, workers, target, draw=not check)
    new = {name: text for name, text in texts.items() if manifest.digest(target / name) != manifest.hashed(text)}
    new |= {name: source for name, source in drawings.items() if source is not None}
    for name, text in () if check else new.items():
        folder_made((target / name).parent)
        write_atomically(target / name, text)
    # an input that changed meanwhile is not the one that was rendered
    if not check and not only and manifest.inputs() == inputs:
        manifest.keep(target, inputs, read, (*texts, *drawings))
    return [target / name for name in new]


def rendered(only: tuple[str, ...] = (), *, workers: int = 1) -> dict[str, str]:
    """Return the text of every report by file name; of the chapters alone that `only` names, or whose ids it does."""
    return _rendered(only, workers, None, draw=False)[0]


def _rendered(
    only: tuple[str, ...], workers: int, target: Path | None, *, draw: bool
) -> tuple[dict[str, str], dict[str, str | None], frozenset[str]]:
    with watched() as read:
        chapters = wanted(only)
        cited = references((name, entry(name).cites) for each in chapters for name in each.ids)  # a key may be unknown
        made = render(chapters, compare=not only, workers=workers, folder=target, draw=draw)
    found: dict[str, str] = {}
    for each in chapters:
        found[f"{each.name}.md"] = chapter_markdown(each, made.pieces, cited)
        found[f"{each.name}.tex"] = chapter_latex(each, made.pieces, cited)
    return (found if only else {**found, **_whole(chapters, made, cited)}), made.drawings, made.read | read


def _whole(chapters: tuple[Chapter, ...], made: Rendered, cited: References) -> dict[str, str]:
    """Return the reports that all chapters share."""
    counts, differing = errata.coverage(made.answers, "md"), errata.errata(made.answers, "md", made.right)
    return {
        "book.md": book_markdown(chapters, made.pieces, cited),
        "book.tex": book_latex(chapters, made, cited),
        "errata.md": f"# Printed answers\n\n{counts}\n\n{differing}\n",
        "README.md": _index(chapters),
    }


def _index(chapters: tuple[Chapter, ...]) -> str:
    """Return what the folder holds."""
    lines = [
        "# Derivations",
        "",
        "[The book](book.md): contents, symbols and references of all chapters; [in LaTeX](book.tex) the whole text.",
        "",
        *(f"- [{escape_markdown(each.title)}]({each.name}.md) ([LaTeX]({each.name}.tex))" for each in chapters),
        "",
        "[Errata](errata.md): printed answers that differ from what is derived, and why.",
    ]
    return "\n".join(lines) + "\n"
