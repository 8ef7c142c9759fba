"""`symscale audit`: tagged claims of documents judged; every planted error found, and none invented."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from symscale.cli import run
from symscale.derivation.registry import ids
from symscale.errors import NotationError, SymscaleError
from symscale.paper.audit.claims import Spelling, claims
from symscale.paper.audit.judged import Report, audited
from symscale.paper.audit.macros import definitions, expanded
from symscale.paper.audit.mathml import mathml_latex
from symscale.paper.audit.renames import original
from symscale.paper.audit.statements import statements, unit_of
from symscale.paper.audit.tidied import tidied
from symscale.paper.audit.typst import as_latex, lets
from symscale.paper.comments import LATEX, MARKDOWN, TYPST, Syntax
from symscale.paper.dialect import LATEX as LATEX_DIALECT
from symscale.paper.dialect import MARKDOWN as MARKDOWN_DIALECT
from symscale.paper.dialect import Dialect
from symscale.paper.request import read_request
from symscale.paper.settings import Settings
from symscale.paper.write import write

RIGHT, LEADING, UNIT, WRONG, UNREAD = "right", "leading", "unit", "wrong", "unread"
SHORT = {"right to leading order": LEADING, "right number, wrong unit": UNIT}
BOUND = r"\frac{B}{X} \ge \frac{bC}{2W_\text{ici}}"


def audit(folder: Path, text: str | bytes, name: str = "paper.tex", *renames: str) -> Report:
    file = folder / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    before = file.read_bytes()
    report = audited(file, renames)
    assert file.read_bytes() == before
    return report


def short(report: Report) -> list[tuple[int, str]]:
    """Return line and verdict of every claim, in the order of the tags."""
    kinds = [each.verdict.kind if each.verdict is not None else UNREAD for each in report.findings]
    return [(each.line, SHORT.get(kind, kind)) for each, kind in zip(report.findings, kinds, strict=True)]


# a LaTeX text, and the lines of its claims with their verdicts
TEX: list[tuple[str, list[tuple[int, str]]]] = [
    # where a tag may stand beside a display
    (f"% audit: training/fsdp\n\\begin{{equation}}\n{BOUND} \\label{{eq:a}}\n\\end{{equation}}", [(3, RIGHT)]),
    (f"% audit: training/fsdp\n\n\\[ {BOUND} \\]", [(3, RIGHT)]),
    (f"%%% audit: training/fsdp\n$$ {BOUND} $$", [(2, RIGHT)]),
    (f"\\[ {BOUND} \\] % audit: training/fsdp", [(1, RIGHT)]),
    (f"\\begin{{equation*}}\n{BOUND}\n\\end{{equation*}}\n% audit: training/fsdp", [(2, RIGHT)]),
    (f"\\begin{{equation}} % audit: training/fsdp\n{BOUND}.\n\\end{{equation}}", [(2, RIGHT)]),
    (f"\\begin{{equation}}\n\\audit{{training/fsdp}}\n{BOUND}\n\\end{{equation}}", [(3, RIGHT)]),
    (f"\\begin{{equation}}\\audit{{training/fsdp}}{BOUND}\\end{{equation}}", [(1, RIGHT)]),
    (f"\\[ {BOUND} \\]\n% audit: training/fsdp\n\\[ B \\ge 1 \\]", [(3, WRONG)]),  # what follows comes first
    (f"\\[ {BOUND} \\]\n% audit: training/fsdp\n\n\\[ B \\ge 1 \\]", [(1, RIGHT)]),
    # the rows of a display
    (
        "% audit: training/fsdp\n\\begin{align}\nT_\\text{math} &= \\frac{4BDF}{XC} \\\\\n"
        "T_\\text{comms} &= \\frac{bDF(X-1)}{XW_\\text{ici}} \\nonumber \\\\[2pt]\n"
        " &= \\frac{2bDF(X-1)}{XW_\\text{ici}}\n"
        "\\end{align}",
        [(3, RIGHT), (4, WRONG), (5, RIGHT)],
    ),
    (
        "\\begin{align}\nx &= y \\\\\nT_\\text{math} &= \\frac{4BDF}{XC} \\\\ % audit: training/fsdp\n"
        "% audit: training/fsdp\nT_\\text{math} &= \\frac{2BDF}{XC} \\\\\n"
        "\\audit{training/fsdp step 3} V_1 &= bDF\n\\end{align}",
        [(3, RIGHT), (5, WRONG), (6, RIGHT)],
    ),
    (
        "% audit: training/fsdp\n\\begin{gather*} V_1 = bDF \\\\ V_2 = 2bDF \\end{gather*}",
        [(2, RIGHT), (2, WRONG)],
    ),
    (
        "% audit: training/fsdp\n\\begin{equation}\\begin{split}\n\\text{bytes}_\\text{hbm} &= \\frac{2bBD}{X} \\\\\n"
        "&\\quad + 2bDF + \\frac{2bBF}{X}\n\\end{split}\\end{equation}",
        [(3, RIGHT)],
    ),
    # chains, conditions, limits
    (
        f"% audit: training/fsdp\n\\[ {BOUND} \\quad (X \\gg 1), \\qquad\\text{{in bf16}}\\quad"
        " \\frac{B}{X} \\ge \\frac{C}{W_\\text{ici}} = 2550 \\text{ tokens per chip on TPU v5p} \\]",
        [(2, RIGHT)],
    ),
    (f"% audit: training/fsdp\n\\[ {BOUND} \\quad\\text{{for }} X \\gg 1 \\]", [(2, RIGHT)]),
    (f"% audit: training/fsdp\n\\[ {BOUND} \\quad (X \\ll 1) \\]", [(2, WRONG)]),
    (
        "% audit: training/fsdp\n"
        "\\[ \\frac{C}{W_\\text{ici}} = \\frac{4.59\\times10^{14}}{1.8\\times10^{11}} = 2550 \\]",
        [(2, RIGHT)],
    ),
    ("% audit: training/fsdp\n\\[ \\frac{C}{W_\\text{ici}} = 2650 \\]", [(2, WRONG)]),
    ("% audit: training/fsdp\n\\[ T_\\text{math} \\ge T_\\text{comms} \\]", [(2, RIGHT)]),
    ("% audit: training/fsdp\n\\[ T_\\text{math} \\le T_\\text{comms} \\]", [(2, WRONG)]),
    ("% audit: training/fsdp\n\\[ \\frac{B}{X} \\lesssim \\frac{C}{W_\\text{ici}} \\]", [(2, WRONG)]),
    ("% audit: training/fsdp\n\\[ \\frac BX > \\frac C{W} \\]", [(2, RIGHT)]),
    (
        "% audit: roofline/matmul step 5\n\\[ B \\ge \\frac{bDFC}{2DFW_\\text{hbm} - bC(D + F)} \\quad"
        " \\text{if } \\frac{DF}{D+F} > \\frac{bC}{4W_\\text{hbm}} \\]",
        [(2, WRONG)],
    ),
    # running text
    ("at least $C/W_\\text{ici}$ % audit: training/fsdp\ntokens per chip", [(1, RIGHT)]),
    ("For \\audit{training/fsdp} $B/X$ the bound is $2550$ tokens per chip, or $5$.", [(1, RIGHT)]),
    ("% audit: training/fsdp\nWe need about 2550 tokens per chip on 64 chips.", [(2, RIGHT)]),
    ("% audit: training/fsdp\nWe need about 5100 tokens per chip.", [(2, WRONG)]),
    ("% audit: training/fsdp\nWe need about 2550\\,ms.", [(2, UNIT)]),
    ("% audit: training/fsdp\nWe need \\qty{2550}{tokens} here.", [(2, RIGHT)]),
    ("% audit: training/fsdp\nWe need \\SI{2.55}{\\kilo\\token}.", [(2, RIGHT)]),
    ("% audit: training/fsdp\nSee Section~\\ref{sec:3}, 2nd part: \\num{2550} is needed.", [(2, RIGHT)]),
    ("that is 2{,}550 tokens % audit: training/fsdp", [(1, RIGHT)]),
    ("% audit: training/fsdp on=tpu-v5e\nOn v5e it is 2189 tokens per chip.", [(2, RIGHT)]),
    ("% audit: training/fsdp on=tpu-v5e\nOn v5e it is 2550 tokens per chip.", [(2, WRONG)]),
    ("% audit: training/fsdp value T_math on=tpu-v5p set=B=2550*X,D=8192,F=32768\nIt takes 5.97 ms.", [(2, RIGHT)]),
    ("% audit: collectives/all-gather value T_comms\nIt takes 373 $\\mu$s.", [(2, RIGHT)]),
    ("% audit: collectives/all-gather value T_comms\nIt takes 373 ms.", [(2, WRONG)]),
    # tags that cannot be read
    ("% audit: training/fsd\n\\[ x = y \\]", [(1, UNREAD)]),
    ("% audit: training/fsdp\n", [(1, UNREAD)]),
    ("% audit: training/fsdp\nNo number and no formula.", [(1, UNREAD)]),
    ("% audit:\n\\[ x = y \\]", [(1, UNREAD)]),
    ("% audit: training/fsdp figure\n\\[ x = y \\]", [(1, UNREAD)]),
    ("% audit: training/fsdp step 99\n\\[ x = y \\]", [(1, UNREAD)]),
    ("% audit: training/fsdp oon=tpu-v5e\n\\[ x = y \\]", [(1, UNREAD)]),
    ("% audit: training/fsdp\n\\[ \\frac{B}{X \\ge 3 \\]", [(2, UNREAD)]),
    ("% audit: training/fsdp\n\\[ \\heartsuit \\ge 3 \\]", [(2, UNREAD)]),
    # what is no tag
    ("\\begin{verbatim}\n% audit: training/fsdp\n\\end{verbatim}\n\\[ x = y \\]", []),
    ("\\verb|% audit: training/fsdp| \\[ x = y \\]", []),
    ("100\\% audit: training/fsdp\n\\[ x = y \\]", []),
]


@pytest.mark.parametrize(("text", "expected"), TEX, ids=range(len(TEX)))
def test_claims_of_latex(tmp_path: Path, text: str, expected: list[tuple[int, str]]) -> None:
    report = audit(tmp_path, text)
    assert short(report) == expected, [(each.text, each.verdict, each.fault) for each in report.findings]
    crlf = audit(tmp_path, text.replace("\n", "\r\n"))
    assert short(crlf) == expected


MD: list[tuple[str, list[tuple[int, str]]]] = [
    (f"<!-- audit: training/fsdp -->\n\n$$\n{BOUND}\n$$\n", [(4, RIGHT)]),
    (f"$$\n{BOUND}\n$$\n<!-- audit: training/fsdp -->\n", [(2, RIGHT)]),
    ("Costs $5 and $6; <!-- audit: training/fsdp --> about 2550 tokens per chip.", [(1, RIGHT)]),
    ("Then <!-- audit: training/fsdp --> $B/X \\ge 2550$ tokens per chip, `$x = 5$`.", [(1, RIGHT)]),
    ("It is $B/X \\ge C/W_\\text{ici}$ <!-- audit: training/fsdp -->", [(1, RIGHT)]),
    ("It is $B/X \\ge 2C/W_\\text{ici}$ <!-- audit: training/fsdp -->", [(1, WRONG)]),
    (
        "<!-- audit: training/fsdp -->\n$$\n\\begin{aligned}\nT_\\text{math} &= \\frac{4BDF}{XC} \\cr\n"
        "T_\\text{comms} &= \\frac{DF(X - 1)}{XW_\\text{ici}}\n\\end{aligned}\n$$",
        [(4, RIGHT), (5, WRONG)],
    ),
    ("<!-- audit: training/fsdp -->\n\n1. item\n\n", [(1, UNREAD)]),
    ("```\n<!-- audit: training/fsdp -->\n$$ x = y $$\n```\n", []),
    ("`<!-- audit: training/fsdp -->` $x = y$\n", []),
    ("<!-- audit: training/fsdp\n-->\n$x = y$", [(1, UNREAD)]),
    ("> <!-- audit: training/fsdp -->\n> $$\n> B/X \\ge C/W_\\text{ici}\n> $$\n", [(1, UNREAD)]),
]


@pytest.mark.parametrize(("text", "expected"), MD[:-1], ids=range(len(MD) - 1))
def test_claims_of_markdown(tmp_path: Path, text: str, expected: list[tuple[int, str]]) -> None:
    report = audit(tmp_path, text, "notes.md")
    assert short(report) == expected, [(each.text, each.verdict, each.fault) for each in report.findings]


TYP: list[tuple[str, list[tuple[int, str]]]] = [
    ('// audit: training/fsdp\n$ frac(B, X) >= (b C)/(2 W_"ici") $\n', [(2, RIGHT)]),
    ('// audit: training/fsdp\n$ B/X >= (b C)/W_"ici" quad (X >> 1) $\n', [(2, WRONG)]),
    (
        '// audit: training/fsdp\n$ T_"math" &= (4 B D F)/(X C) \\\n  T_"comms" &= (b D F (X - 1))/(X W_"ici") $\n',
        [(2, RIGHT), (3, WRONG)],
    ),
    ("About /* audit: training/fsdp */ 2550 tokens per chip.\n", [(1, RIGHT)]),
]


@pytest.mark.parametrize(("text", "expected"), TYP, ids=range(len(TYP)))
def test_claims_of_typst(tmp_path: Path, text: str, expected: list[tuple[int, str]]) -> None:
    report = audit(tmp_path, text, "paper.typ")
    assert short(report) == expected, [(each.text, each.verdict, each.fault) for each in report.findings]


def notebook(*cells: tuple[str, object, list[object]]) -> str:
    rows = [{"cell_type": kind, "source": source, "metadata": {}, "outputs": out} for kind, source, out in cells]
    return json.dumps({"cells": rows, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_claims_of_a_notebook(tmp_path: Path) -> None:
    shown: list[object] = [{"output_type": "execute_result", "data": {"text/plain": "2550 tokens per chip"}}]
    wrong: list[object] = [{"output_type": "stream", "name": "stdout", "text": ["T_comms = 3*b*D*F/W_ici\n"]}]
    book = notebook(
        ("markdown", ["# Title\n", "<!-- audit: training/fsdp -->\n", f"$${BOUND}$$"], []),
        ("code", "x = 1", []),
        ("markdown", "<!-- audit: training/fsdp --> about 5100 tokens per chip", []),
        ("code", "# audit: training/fsdp\nanswer", shown),
        ("code", "# audit: training/fsdp value T_comms on=tpu-v5e", []),
        ("code", "# audit: training/fsdp\nprint(1)", wrong),
    )
    report = audit(tmp_path, book, "notes.ipynb")
    places = [(each.cell, each.output, each.line) for each in report.findings]
    assert [kind for _, kind in short(report)][:3] == [RIGHT, WRONG, RIGHT]
    assert places[:3] == [(1, False, 3), (3, False, 1), (4, True, 1)]
    assert report.code == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "its JSON is broken"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "it has no list of cells"),
        ('{"cells": 3}', "it has no list of cells"),
        ('{"cells": [3]}', "cell 1 is none"),
        ('{"cells": [{"cell_type": "markdown", "source": [3]}]}', "the source of cell 1 is no text"),
        (b'{"cells": "\xff"}', "is not UTF-8"),
    ],
)
def test_a_broken_notebook_is_named(tmp_path: Path, text: str | bytes, said: str) -> None:
    report = audit(tmp_path, text, "notes.ipynb")
    (found,) = report.findings
    assert said in found.fault
    assert report.code == 2


# ---- every planted error is found, and none invented


def tagged(pieces: list[tuple[str, str]], comment: str) -> str:
    return "\n\n".join(f"{comment.format(sentence)}\n{shown}" for sentence, shown in pieces)


LIBRARY = [each for each in ids() if each.startswith(("training/", "roofline/", "gpus/", "context/"))][::8]


def written_pieces(dialect: Dialect) -> list[tuple[str, str]]:
    sentences = [f"{each} claim" for each in LIBRARY]
    return [(each, write(read_request(each), dialect, Settings())) for each in sentences]


@pytest.mark.parametrize(
    ("dialect", "name", "comment"),
    [(LATEX_DIALECT, "paper.tex", "% audit: {}"), (MARKDOWN_DIALECT, "paper.md", "<!-- audit: {} -->")],
    ids=["latex", "markdown"],
)
def test_what_the_library_writes_is_right(tmp_path: Path, dialect: Dialect, name: str, comment: str) -> None:
    pieces = written_pieces(dialect)
    report = audit(tmp_path, tagged(pieces, comment), name)
    assert [(each.tag, each.text) for each in report.findings if not each.accepted] == []
    assert len(report.findings) >= len(pieces) > 12
    assert report.untagged == ()
    assert report.code == 0


def _doubled(latex: str) -> str:
    return re.sub(r"(\\[lg]e(?![a-z])|=)", r"\1 \\frac{5}{7} \\cdot ", latex, count=1)


def _reversed(latex: str) -> str:
    signs = {r"\ge": r"\le", r"\le": r"\ge"}
    return re.sub(r"\\[lg]e(?![a-zA-Z])", lambda found: signs[found[0]], latex, count=1)


@pytest.mark.parametrize("mutant", [_doubled, _reversed])
def test_every_planted_error_is_found(tmp_path: Path, mutant: Callable[[str], str]) -> None:
    planted = [(sentence, mutant(shown)) for sentence, shown in written_pieces(LATEX_DIALECT)[::2]]
    planted = [each for each in planted if each not in written_pieces(LATEX_DIALECT)]
    report = audit(tmp_path, tagged(planted, "% audit: {}"))
    found = {each.tag for each in report.findings if not each.accepted}
    assert found == {sentence for sentence, _ in planted}
    assert len(planted) > 3
    assert report.code in (1, 2)


# ---- how documents spell


def test_macros_of_the_document_are_put_in(tmp_path: Path) -> None:
    text = (
        "\\newcommand{\\Wici}{W_\\text{ici}}\n\\def\\peak{C}\n\\DeclareMathOperator{\\flops}{FLOPs}\n"
        "\\newcommand{\\ratio}[2]{\\frac{#1}{#2}}\n\\NewDocumentCommand{\\width}{}{b}\n"
        "% audit: training/fsdp\n\\[ \\frac{B}{X} \\ge \\frac{\\width\\peak}{2\\Wici} \\]\n"
        "% audit: training/fsdp\n\\[ \\flops = \\frac{4BDF}{X} \\]"
    )
    assert short(audit(tmp_path, text)) == [(7, RIGHT), (9, RIGHT)]


@pytest.mark.parametrize(
    ("macros", "said"),
    [
        (r"\newcommand{\x}{\x}", r"\x is defined by itself"),
        (r"\newcommand{\x}{\y\y}\newcommand{\y}{\x\x}", "grows a formula beyond"),
        (r"\newcommand{\x}{{}", "no meaning"),
    ],
)
def test_macros_that_have_no_end_are_refused(tmp_path: Path, macros: str, said: str) -> None:
    (found,) = audit(tmp_path, f"{macros}\n% audit: training/fsdp\n\\[ B \\ge \\x \\]").findings
    assert said in found.fault


MACROS = r"""
\newcommand\a{x}\newcommand{\b}[1]{<#1>}\renewcommand*{\c}{\a z}\def\d#1{(#1)}\def\e{{q}}\newcommand{\f}
\newcommand{\g}[2][7]{#1:#2}\def\h#1 to #2.{#2-#1}\let\i=\a\DeclarePairedDelimiter{\ceil}{\lceil}{\rceil}
\NewDocumentCommand{\j}{s o m}{\IfBooleanTF{#1}{star}{}\IfNoValueTF{#2}{none}{#2};#3}\NewDocumentCommand{\k}{v}{x}
\DeclareMathOperator*{\flops}{FLOPs}\DeclareSIUnit\token{tokens}\providecommand{\a}{again}
"""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"\a\c+\ab", r"x x z +\ab"),
        (r"\b{2}\b3\b\a", r"<2><3><x >"),
        (r"\d{\d{1}}", "((1))"),
        (r"\g{5}\g[\b{6}]{5}", "7:5<6>:5"),
        (r"\h 1 to 2.", " 2- 1 "),
        (r"\i", "x "),
        (r"\j*[1]{2}\j{3}", "star1;2none;3"),
        (r"\ceil*{X}", r"\left\lceil X \right\rceil "),
        (r"\flops\token", r"\operatorname{FLOPs}tokens "),
    ],
)
def test_macros_of_authors_are_put_in(text: str, shown: str) -> None:
    assert expanded(text, definitions(MACROS)).replace("  ", " ") == shown


@pytest.mark.parametrize(
    ("text", "said"),
    [(r"\b", "lacks an argument"), (r"\k|x|", "takes arguments that are not read: v."), (r"\b{", "never closed")],
)
def test_macros_that_cannot_be_put_in_are_named(text: str, said: str) -> None:
    with pytest.raises(NotationError, match=said):
        expanded(text, definitions(MACROS))


def test_a_macro_that_changes_within_the_text_is_refused(tmp_path: Path) -> None:
    text = (
        "\\newcommand{\\W}{W_\\text{ici}}\\begin{document}\\renewcommand{\\W}{W_\\text{hbm}}\n"
        "% audit: training/fsdp\n\\[ B/X \\ge C/\\W \\]\n\\end{document}\n% audit: training/fsdp\n\\[ B \\ge 1 \\]"
    )
    (found,) = audit(tmp_path, text).findings
    assert "is defined again within the text" in found.fault


def test_renamed_symbols_are_read_backwards(tmp_path: Path) -> None:
    (tmp_path / "symscale.toml").write_text(
        '[style.rename]\nW_ici = "\\\\beta"\nB = "\\\\mathcal{B}"\n', encoding="utf-8"
    )
    text = "% audit: training/fsdp\n\\[ \\frac{\\mathcal{B}}{X} \\ge \\frac{bC}{2\\beta} \\]"
    assert short(audit(tmp_path, text)) == [(2, RIGHT)]
    assert short(audit(tmp_path, text.replace("2\\beta", "\\beta"))) == [(2, WRONG)]
    (tmp_path / "symscale.toml").unlink()
    assert short(audit(tmp_path, text, "paper.tex", r"W_ici=\beta", r"B=\mathcal{B}")) == [(2, RIGHT)]
    one = "% audit: training/fsdp rename=W_ici=\\beta\n\\[ \\frac{B}{X} \\ge \\frac{bC}{2\\beta} \\]"
    assert short(audit(tmp_path, one)) == [(2, RIGHT)]
    with pytest.raises(SymscaleError):
        audit(tmp_path, text, "paper.tex", r"W_ici=\input{x}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"X\beta+\betax", r"X W_{ici} +\betax"),
        (r"\frac{\mathcal{B}}{X}", r"\frac{ B }{X}"),
        (r"N^2 N_\text{heads} T_N", r" \text{N}_{chips} ^2 N_\text{heads} T_N"),
        (r"\text{N}", r"\text{N}"),
    ],
)
def test_symbols_under_their_own_names(text: str, expected: str) -> None:
    renames = (("W_ici", r"\beta"), ("B", r"\mathcal{B}"), ("N_chips", "N"))
    assert original(text, renames).replace(r"\text{N}_{chips}", "N_{chips}") == expected.replace(
        r"\text{N}_{chips}", "N_{chips}"
    )


def test_folders_of_the_document_are_looked_into(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    source = (
        'from symscale import derivation\n\n\n@derivation("mine/fsdp", title="Mine")\ndef mine(d):\n'
        '    layer = d.program("In[B_X, D] * W[D_X, F] -> Out[B_X, F]")\n    t = d.times(layer, passes="forward")\n'
        '    d.crossover(t.math, ">=", t.comms, solve_for="B")\n'
    )
    (tmp_path / "own" / "mine.py").write_text(source, encoding="utf-8")
    (tmp_path / "symscale.toml").write_text('derivations = ["own"]\n', encoding="utf-8")
    assert short(audit(tmp_path, f"% audit: mine/fsdp\n\\[ {BOUND} \\]")) == [(2, RIGHT)]


# ---- files


def test_files_that_are_taken_in_are_followed_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "sections").mkdir()
    (tmp_path / "local.sty").write_text(r"\newcommand{\Wici}{W_\text{ici}}", encoding="utf-8")
    (tmp_path / "sections" / "a.tex").write_text(
        "% audit: training/fsdp\n\\[ B/X \\ge C/\\Wici \\]\n\\input{sections/a}\n\\input{sections/b.tex}",
        encoding="utf-8",
    )
    (tmp_path / "sections" / "b.tex").write_text("% audit: training/fsdp\n\\[ B/X \\ge 2C/\\Wici \\]", encoding="utf-8")
    (tmp_path.parent / "outside.tex").write_text("% audit: training/fsdp\n\\[ x = y \\]", encoding="utf-8")
    text = (
        "\\usepackage{amsmath,local}\n\\input{sections/a}\n\\include{../outside}\n\\input{missing}\n"
        "\\input{\\name}\n% \\input{gone}\n\\begin{verbatim}\n\\input{gone}\n\\end{verbatim}\n\\input sections/b\n"
    )
    report = audit(tmp_path, text)
    assert [(each.file.name, *each_short) for each, each_short in zip(report.findings, short(report), strict=True)] == [
        ("a.tex", 2, RIGHT),
        ("b.tex", 2, WRONG),
    ]
    assert [(each.line, each.message.rpartition(": ")[2]) for each in report.notes] == [
        (3, "it lies outside of the document's folder."),
        (4, "there is no such file."),
        (5, "its name is made by a macro."),
    ]


def test_files_nested_too_deep_are_said(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"f{number}.tex").write_text(f"\\input{{f{number + 1}}}", encoding="utf-8")
    report = audit(tmp_path, "\\input{f0}")
    assert [each.message for each in report.notes] == [
        "\\input{f8} is not followed: files are nested more than 8 deep."
    ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("paper.tex", b"\xff\xfe\n", "paper.tex is UTF-16 text, not UTF-8."),
        ("paper.docx", "x", "of no kind that is audited"),
        ("paper", "x", "of no kind that is audited"),
    ],
)
def test_a_document_that_cannot_be_read_is_named(tmp_path: Path, name: str, text: str | bytes, said: str) -> None:
    report = audit(tmp_path, text, name)
    (found,) = report.findings
    assert said in found.fault
    assert report.code == 2


def test_a_large_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symscale.paper.audit.sources.LARGEST", 10)
    (found,) = audit(tmp_path, "x" * 11).findings
    assert "Split the document." in found.fault
    assert "there is no such file" in audited(tmp_path / "none.tex").findings[0].fault
    (tmp_path / "folder.tex").mkdir()
    assert "is a folder" in audited(tmp_path / "folder.tex").findings[0].fault


HOSTILE: list[tuple[str, Syntax]] = [
    ("$ " * 20_000, LATEX),
    ("\\begin{align} x = y " * 5_000, LATEX),
    ("% audit: training/fsdp\n" * 1_000, LATEX),
    ("word \\audit{training/fsdp} word " * 500, LATEX),
    ("% audit: training/fsdp\n\\begin{align}" + "x &= y \\\\ " * 2_000 + "\\end{align}", LATEX),
    ("% audit: training/fsdp\n$" + "(" * 9_000 + "x$", LATEX),
    ("% audit: training/fsdp\n$" + "{" * 9_000 + "x$", LATEX),
    ("% audit: training/fsdp\n$" + "x" * 30_000 + "$", LATEX),
    ("\\" * 20_000, LATEX),
    ("` `` " * 10_000, MARKDOWN),
    ("<!-- " * 10_000, MARKDOWN),
    ("$ a " * 10_000, TYPST),
]


@pytest.mark.parametrize(("text", "syntax"), HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_take_linear_time(text: str, syntax: Syntax) -> None:
    claims(text, syntax, Spelling())


def test_formulas_that_never_end_are_said(tmp_path: Path) -> None:
    report = audit(tmp_path, "text\n\\begin{equation}\nx = y\n")
    assert [(each.line, each.message) for each in report.notes] == [
        (2, "This formula has no end: \\end{equation} is missing.")
    ]


# ---- pieces of the reader


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (r"T = a \ge U = b", [("T = a", ()), (r"T \ge U", ()), (r"T \ge b", ())]),
        (r"2 \le X \le 8", [(r"2 \le X \le 8", ())]),
        (r"X = 16,\ Y = 4", [("X = 16", ()), ("Y = 4", ())]),
        (r"C \approx \max(a, b)", [(r"C = \max(a, b)", ())]),
        (r"\boxed{T = 3} \tag{1}", [("T = 3", ())]),
        (r"\underbrace{T}_{\text{time}} = 3.", [("T = 3", ())]),
        (r"n = 2P", [(r"n = 2 \cdot P", ())]),
        (r"t = 46.60\,\mu\text{s}", [("t = 46.60 µs", ())]),
        (r"W = \qty{3.35}{TB/s}", [("W = 3.35 TB/s", ())]),
        (r"B \ge a \quad B \ll D, F", [(r"B \ge a", (r"B \ll D, F",))]),
        (r"B \ge a, \quad X, Y \gg 1", [(r"B \ge a", (r"X,  Y \gg 1",))]),
        (
            r"B \ge a \quad \text{if } c \ge d \text{ and } e < f\ (X \gg 1)",
            [(r"B \ge a", (r"c \ge d", "e < f", r"X \gg 1"))],
        ),
        (r"B \ge a \text{ if $c > d$}", [(r"B \ge a", ("c > d",))]),
        (r"\text{every }B\text{ is enough}", [("always", ())]),
        (r"\text{no }B\text{ is enough} \quad \text{if } X > 1", [("never", ("X > 1",))]),
        (r"\text{nothing is sent}", [("none", ())]),
        (r"\text{elements}_{W, \text{out}} = 3", [(r"\mathit{elements}_{W \mathit{out}} = 3", ())]),
        (r"\sum_{i=1} x = 4", [(r"\sum_{i=1} x = 4", ())]),
        ("", []),
    ],
)
def test_what_a_row_states(row: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert [(each.said, each.when) for each in statements(row)[0]] == expected


@pytest.mark.parametrize("row", ["a = {b", "a = b}", r"\boxed{a", r"\qty{3", r"a \text{b"])
def test_braces_that_do_not_pair_are_named(row: str) -> None:
    with pytest.raises(NotationError):
        statements(row)


@pytest.mark.parametrize(
    ("words", "unit"),
    [
        (" tokens per chip on TPU v5p", "tokens per chip"),
        ("GB/s each", "GB/s"),
        ("ms,", "ms"),
        ("and more", ""),
        ("", ""),
    ],
)
def test_the_unit_that_words_begin_with(words: str, unit: str) -> None:
    assert unit_of(words) == unit


@pytest.mark.parametrize(
    ("typst", "latex"),
    [
        ('frac(B, X) >= (b C)/(2 W_"ici")', r"\frac{B}{X}\ge\frac{bC}{2W_{\text{ici}}}"),
        ("sqrt(frac(a, b)) dot max(x, y)", r"\sqrt{\frac{a}{b}}\cdot\max(x,y)"),
        ("4 B D F / X C", r"4BD\frac{F}{X}C"),
        ("1/W(1 - x) (1 - y)", r"\frac{1}{W(1-x)}(1-y)"),
        ('a/b/c^2_"x" + lr([x - 1], size: #150%)', r"\frac{\frac{a}{b}}{c^{2}_{\text{x}}}+[x-1]"),
        ("attach(T, b: x, t: 2) quad root(3, y) infinity", r"T_{x}^{2}\quad\sqrt[3]{y}\infty"),
        ('cases(a &"if" x, b &"otherwise")', r"\begin{cases}a&\text{if}x\\b&\text{otherwise}\end{cases}"),
        ('bold(upright(x)) cal(B) upright("ab") ⌈x⌉', r"\mathbf{x}\mathcal{B}\text{ab}\lceilx\rceil"),
        ("per(a + 1, Wx) #Wx", r"\frac{a+1}{W_{\text{x}}}W_{\text{x}}"),
    ],
)
def test_typst_in_latex(typst: str, latex: str) -> None:
    defined = lets('#let Wx = $W_"x"$\n#let per(a, b) = $frac(a, #b)$\n')
    assert as_latex(typst, defined).replace(" ", "") == latex


@pytest.mark.parametrize(
    ("typst", "said"),
    [
        ("alpha <= FLOPs", "Typst has no FLOPs"),
        ("frac(a", "never closed"),
        ("(a", "never closed"),
        ("frac(a)", "lacks an argument"),
        ("mat(1, 2; 3, 4)", "A matrix is no formula"),
        ("x_a(b)", "It is not clear"),
        ("#sys.version", "is not read"),
        ("a /", "missing at the end"),
        ("x", "goes in circles"),
        ("(" * 99 + "a" + ")" * 99, "nested more than"),
    ],
)
def test_typst_that_is_not_read_is_named(typst: str, said: str) -> None:
    defined = lets("#let y = $z z$\n#let z = $y y$\n")
    with pytest.raises(NotationError, match=said):
        as_latex("y" if said == "goes in circles" else typst, defined)


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("<math><mi>x</mi><mo>&le;</mo><msqrt><mn>2</mn><mi>y</mi></msqrt></math>", r"x\le\sqrt{2y}"),
        ('<math><msub><mi mathvariant="script">B</mi><mi>i</mi></msub></math>', r"\mathcal{B}_{i}"),
        ("<math><mfrac><mn>1,000</mn><msup><mi>y</mi><mn>2</mn></msup></mfrac></math>", r"\frac{1{,}000}{y^{2}}"),
        (
            '<math><semantics><mi>q</mi><annotation encoding="application/x-tex">x^2</annotation></semantics></math>',
            "x^2",
        ),
        ("<math><mtable><mtr><mtd><mi>x</mi></mtd><mtd><mo>=</mo></mtd></mtr></mtable></math>", "x="),
    ],
)
def test_mathml_in_latex(text: str, latex: str) -> None:
    assert mathml_latex(text).replace(" ", "") == latex


@pytest.mark.parametrize(
    "text",
    ["<math><mi>x</math>", "<math><mmultiscripts/></math>", "<math>" + "<mrow>" * 99 + "</mrow>" * 99 + "</math>"],
)
def test_mathml_that_is_not_read_is_named(text: str) -> None:
    with pytest.raises(NotationError):
        mathml_latex(text)


def test_units_of_siunitx() -> None:
    assert tidied(r"\qty{1.8e11}{\byte\per\second}") == r"1.8e11 \text{ B/s}"
    assert tidied(r"\SI[round-mode=places]{11.5}{\milli\second}") == r"11.5 \text{ ms}"
    assert tidied(r"\num{1.2 x 10^3}") == "1.2e3"


# ---- the command


def test_the_command_prints_lines_that_editors_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "paper.tex"
    file.write_text(
        f"% audit: training/fsdp\n\\[ {BOUND} \\]\n% audit: training/fsdp\nabout 5100 tokens per chip and $a = b$\n",
        encoding="utf-8",
    )
    assert run(["audit", str(file)]) == 1
    first, second, text, *_, answer, last = capsys.readouterr().out.splitlines()
    assert first == f"{file}:2: Right. This is the answer for X ≫ 1."
    assert second == f"{file}:4: Wrong. The derivation gives this with one direction of each link (W_ici/2)."
    assert text == "    5100 tokens per chip"
    assert answer.startswith("    The answer: B >= ")
    assert last == "2 claims: 1 right, 1 wrong. 1 formula carries no tag (--untagged lists them)."
    assert run(["audit", str(file), "--untagged"]) == 1
    assert f"{file}:4: no tag: a = b\n" in capsys.readouterr().out


def test_the_command_prints_json_and_annotations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "paper.tex"
    file.write_text(
        "% audit: training/fsdp\n\\[ T_\\text{comms} = \\frac{bDF(X - 1)}{XW_\\text{ici}} \\]\n% audit: nothing/here\n",
        encoding="utf-8",
    )
    assert run(["audit", str(file), "--format", "json"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "symscale.audit/1.0"
    assert not found["accepted"]
    wrong, unread = found["claims"]
    assert (wrong["line"], wrong["verdict"], wrong["asked"]) == (2, "wrong", "T_comms")
    assert wrong["right_answer"] == "T_comms = 2*b*D*F*(X - 1)/(X*W_ici)"
    assert (unread["line"], unread["verdict"], unread["accepted"]) == (3, "not judged", False)
    assert run(["audit", str(file), "--format", "github"]) == 2
    first, second, _ = capsys.readouterr().out.splitlines()
    assert first.startswith(f"::error file={file.as_posix()},line=2,title=symscale audit::Wrong. ")
    assert "%0A" in first
    assert second.startswith(f"::error file={file.as_posix()},line=3,")


def test_right_documents_exit_with_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "notes.md"
    file.write_text(f"<!-- audit: training/fsdp -->\n$$\n{BOUND}\n$$\n", encoding="utf-8")
    assert run(["audit", str(file)]) == 0
    assert run(["audit", str(file), str(tmp_path / "none.md")]) == 2
    assert "none.md: Not judged. " in capsys.readouterr().out
    file.write_text("no tag", encoding="utf-8")
    assert run(["audit", str(file)]) == 0
    assert capsys.readouterr().out == "No tag names a derivation.\n"


def test_blocks_that_sync_keeps_are_not_counted(tmp_path: Path) -> None:
    text = "% symscale: training/fsdp claim\n\\[ x = y \\]\n% end symscale\n\\[ a = b \\]\n"
    assert [each.message for each in audit(tmp_path, text).untagged] == ["a = b"]
