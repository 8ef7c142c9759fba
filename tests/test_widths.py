"""How wide pieces are: what can be asked for, and that plots and tables fit where LaTeX and Typst set them."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from test_verify_documents import latex

from symscale.derivation.registry import blackboard, drawing, ids
from symscale.errors import SymscaleError
from symscale.paper.dialect import HTML, LATEX, MARKDOWN, TYPST
from symscale.paper.drawings import draw
from symscale.paper.request import read_request
from symscale.paper.settings import Settings, read_settings
from symscale.paper.widths import Width, read_width
from symscale.paper.write import write
from symscale.report.lines import MARGINS
from symscale.report.picture import fitted, picture

PLAIN = Settings()

# by hand: 428 pt of 72.27 to the inch are 15.04 cm, which 58 letters fill
WIDTHS = {
    "34": (34, 8.817, r"8.818cm", ""),
    "58": (58, 15.042, r"\linewidth", ""),
    "8cm": (31, 8, "8cm", ""),
    "8.5 cm": (33, 8.5, "8.5cm", ""),
    "85mm": (33, 8.5, "8.5cm", ""),
    "3.5in": (34, 8.89, "8.89cm", ""),
    "100pt": (14, 3.5146, "3.515cm", ""),
    "50%": (29, 7.521, r"0.5\linewidth", "50%"),
    r"0.8\linewidth": (46, 11.93, r"0.8\linewidth", "80%"),
    r"\columnwidth": (58, 15.042, r"1\columnwidth", "100%"),
    r".5\textwidth": (29, 7.521, r"0.5\textwidth", "50%"),
}


@pytest.mark.parametrize("text", WIDTHS)
def test_widths_are_letters_lengths_or_shares(text: str) -> None:
    letters, length, tex, percent = WIDTHS[text]
    found = read_width(text)
    assert (found.letters, found.latex, found.percent) == (letters, tex, percent)
    assert found.centimetres == pytest.approx(length, rel=2e-3)


WRONG = {
    "19": "20 letters or more",
    "8em": "em is none of cm, mm, in, pt",
    "1cm": "from 2 cm to 100 cm",
    "101cm": "from 2 cm",
    "200%": "the whole of it at most",
    "1%": "a tenth",
    r"2\linewidth": "the whole of it",
    r"\paperwidth": "is no width",
    r"8cm}\input{x}": "is no width",
    r"\linewidth\write18{x}": "is no width",
    "calc(1px)": "is no width",
    "8cm; x": "is no width",
    "٣٤": "is no width",
    "-8cm": "is no width",
    "": "is no width",
    "1e3cm": "is no width",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_width_says_what_is(text: str) -> None:
    with pytest.raises(SymscaleError) as caught:
        read_width(text)
    assert WRONG[text] in str(caught.value)
    assert "8cm" in caught.value.hint


def test_the_settings_of_a_document_have_a_width(tmp_path: Path) -> None:
    for said, width in (('"85mm"', 8.5), ("34", 8.817), (r"'0.8\linewidth'", 11.93)):
        (tmp_path / "symscale.toml").write_text(f"[style]\nwidth = {said}\n", encoding="utf-8")
        assert read_settings(tmp_path).style.width.centimetres == pytest.approx(width, rel=2e-3)
    (tmp_path / "symscale.toml").write_text('[style]\nwidth = "8em"\n', encoding="utf-8")
    with pytest.raises(SymscaleError, match=r"symscale\.toml: style\.width: '8em' is no width"):
        read_settings(tmp_path)


@pytest.mark.parametrize("wide", [3.0, 6.0, 8.5, 12.0, 30.0])
def test_a_plot_is_laid_out_for_its_width(wide: float) -> None:
    for name in ("training/regimes", "roofline/kink"):
        (figure,) = blackboard(name).derivation.figures
        found = fitted(figure, wide)
        across, high = found.frame
        assert (across + MARGINS[0] + MARGINS[2]) * found.scale == pytest.approx(wide)
        assert found.scale >= 0.78 or wide < 8.5
        shown = picture(found)
        points = [point for each in shown.strokes for point in each.line]
        assert all(-1e-6 <= x <= across + 1e-6 and -1e-6 <= y <= high + 1e-6 for x, y in points)
        assert all(each.box.width / 2 <= each.box.x <= across - each.box.width / 2 for each in shown.words)


def test_every_language_says_how_wide_a_plot_is(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed, so there is no plot to draw")
    half = read_request("roofline/kink figure width=50% file=k.svg")
    assert 'width="50%"' in write(half, MARKDOWN, PLAIN)
    assert 'image("k.svg", width: 50%, alt:' in write(half, TYPST, PLAIN)
    assert 'style="width: 50%; max-width: 100%; height: auto"' in write(half, HTML, PLAIN)
    page = write(read_request("roofline/kink figure"), HTML, PLAIN)
    assert "max-width: 100%" in page
    assert page.count("role=") == 1
    assert r"\resizebox{8cm}{!}" in write(read_request("roofline/kink figure width=8cm"), LATEX, PLAIN)
    absolute = read_request("roofline/kink figure width=8cm file=k.svg")
    assert draw(absolute, PLAIN, tmp_path) is not None
    assert draw(absolute, PLAIN, tmp_path) is None
    size = re.search(r'width="([\d.]+)pt"', (tmp_path / "k.svg").read_text(encoding="utf-8"))
    assert size is not None
    assert float(size[1]) == pytest.approx(8 / 2.54 * 72, rel=1e-4)
    assert draw(replace(absolute, options=(("width", "9cm"), ("file", "k.svg"))), PLAIN, tmp_path) is not None


def test_tables_say_their_room_where_a_language_has_it() -> None:
    asked = read_request("gpus/levels table width=8cm")
    assert write(asked, TYPST, PLAIN).startswith("#block(width: 8cm)[\n#table(")
    assert "max-width: 8cm; overflow-x: auto" in write(asked, HTML, PLAIN)
    assert r"\ifdim\width>8cm 8cm\else" in write(asked, LATEX, PLAIN)
    assert write(asked, MARKDOWN, PLAIN) == write(read_request("gpus/levels table"), MARKDOWN, PLAIN)
    assert Width().latex == r"\linewidth"


# ------------------------------------------------------------------ set by LaTeX

HEADS = {
    "article": r"\documentclass{article}",
    "columns": r"\documentclass[twocolumn,10pt]{article}",
    "wide slides": r"\documentclass[aspectratio=169]{beamer}",
    "slides": r"\documentclass{beamer}",
    "IEEE": r"\documentclass[conference]{IEEEtran}",
}


def there(head: str) -> bool:
    """Say whether the class of a document is installed (Debian: texlive-publishers has that of IEEE)."""
    found = re.search(r"\{(\w+)\}", head)
    program = shutil.which("kpsewhich")
    return bool(program and found and subprocess.run([program, f"{found[1]}.cls"], capture_output=True).stdout)


def asked() -> list[str]:
    """Return requests for every plot and every table of the library."""
    plots = [(name, len(blackboard(name).derivation.figures)) for name in drawing()]
    tables = [(name, sum(each.sheet is not None for each in blackboard(name).steps)) for name in ids()]
    found = [f"{name} figure {n}" for name, many in plots for n in range(1, many + 1)]
    return found + [f"{name} table {n}" for name, many in tables for n in range(1, many + 1)]


@pytest.mark.verify
@pytest.mark.parametrize(
    ("width", "heads"),
    [("", tuple(HEADS)), ("34", ("columns",)), ("6cm", ("columns", "slides")), (r"\textwidth", ("columns",))],
)
def test_no_plot_or_table_is_wider_than_its_line(tmp_path: Path, width: str, heads: tuple[str, ...]) -> None:
    """Nor higher than a slide: no box is overfull by more than 2 pt, in an article, two columns and slides."""
    option = f" width={width}" if width else ""
    pieces = [(each.replace("_", "-"), write(read_request(each + option), LATEX, PLAIN)) for each in asked()]
    assert len(pieces) > 30
    for number, name in enumerate(heads):
        if not there(HEADS[name]):
            continue
        slides, text = "slides" in name, "%s: words before it.\n\n%s\n\nAfter it."
        frame = "\\begin{frame}{%s}\n%s\n\\end{frame}" if slides else text
        shown = "\n\n".join(frame % each for each in pieces)
        packages = "\\usepackage{amsmath,pgfplots}\n\\pgfplotsset{compat=1.16}\n"
        document = f"{HEADS[name]}\n{packages}\\begin{{document}}\n{shown}\n\\end{{document}}\n"
        file = tmp_path / f"{number}.tex"
        file.write_text(document, encoding="utf-8")
        said = latex(file, times=1)
        over = [float(each) for each in re.findall(r"Overfull \\[hv]box \(([\d.]+)pt", said)]
        assert max(over, default=0) <= 2, name


@pytest.mark.verify
def test_typst_sets_plots_and_tables_in_columns(tmp_path: Path) -> None:
    compiler = pytest.importorskip("typst", reason="typst is not installed, so it did not set the document")
    pytest.importorskip("matplotlib", reason="matplotlib is not installed, so there is no plot to draw")
    text = ['#set page(paper: "a4", columns: 2)']
    for number, each in enumerate(asked()):
        for width in ("", " width=7cm", r" width=0.8\linewidth"):
            file = f" file={number}{len(width)}.svg" if "figure" in each else ""
            request = read_request(each + width + file)
            draw(request, PLAIN, tmp_path)
            text.append(write(request, TYPST, PLAIN))
    (tmp_path / "all.typ").write_text("\n\n".join(text), encoding="utf-8")
    compiler.compile(str(tmp_path / "all.typ"), output=str(tmp_path / "all.pdf"))
    assert (tmp_path / "all.pdf").stat().st_size > 100_000
