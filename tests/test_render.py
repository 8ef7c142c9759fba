"""Documents from templates: what is filled in, what hostile templates come to, and what becomes of files."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from symscale.cli import cli, run
from symscale.errors import SymscaleError
from symscale.paper import fill, limits
from symscale.paper import render as rendering
from symscale.paper.dialect import dialect_of
from symscale.paper.fill import filled


def made(folder: Path, name: str, text: str) -> str:
    """Return what a template comes to, filled in by this process."""
    (folder / name).write_bytes(text.encode())
    return filled(folder / name, dialect_of(name), None, False)[0]


LATEX = r"""\#{ the reader sees none of this }
%% set fsdp = symscale("training/fsdp")
\section{\VAR{fsdp.title}}
\VAR{fsdp.claim(label="eq:fsdp")}
%%---- a ruler stays
%% for step in fsdp.steps if step.kind == "solve"
\VAR{step.at}: \VAR{step(env="inline")}
%% endfor
%% set comms = fsdp.value("T_comms", set={"D": 8192, "F": 28672, "X": 16})
\VAR{fsdp.value(numbers="siunitx")} \VAR{comms(unit="ms", digits=3)}
\BLOCK{if fsdp.value.number > 2500}many\BLOCK{endif}
\VAR{(2 * fsdp.value.number)|number("tokens")} \VAR{"B*D/W_ici"|formula} \VAR{"100% #1"|text}
\VAR{"training/fsdp claim form=dtype env=math"|symscale}
"""
WANTED = r"""\section{When does FSDP hide its gathers?{}}
\begin{equation}\label{eq:fsdp}
\frac{B}{X} \ge \frac{bC}{2W_\text{ici}} \quad (X \gg 1)
\end{equation}
%%---- a ruler stays
6: $B \ge \frac{bC(X - 1)}{2W_\text{ici}}$
8: $\frac{B}{X} \ge \frac{bC}{2W_\text{ici}}$
\num{2550}~tokens per chip 4.89~ms
many
5100~tokens $\frac{BD}{W_\text{ici}}$ 100\% \#1
\frac{B}{X} \ge \frac{C}{W_\text{ici}} \quad (X \gg 1)
"""


def test_a_latex_template(tmp_path: Path) -> None:
    assert made(tmp_path, "paper.tex.j2", LATEX) == WANTED


SHORT = {
    "a.md.j2": ("{% set f = symscale('training/fsdp') %}\n# {{ f.title }}\n{{ f.value }}", "2550 tokens per chip"),
    "a.typ.j2": (
        "{* none *}\n#let x = {1}\n{{ symscale('training/fsdp').claim(env='inline') }}",
        "#let x = {1}\n$frac(B,",
    ),
    "a.html.j2": ("<p>{{ '<b>' }} {{ symscale('training/fsdp').claim }}", '<p>&lt;b&gt; <div class="equation"><math'),
    "a.qmd.j2": ("{# none #}\n{% if true %}\nyes\n{% endif %}\nno", "yes\nno"),
}


@pytest.mark.parametrize("name", SHORT)
def test_templates_of_other_languages(tmp_path: Path, name: str) -> None:
    text, wanted = SHORT[name]
    assert wanted in made(tmp_path, name, text)


# what a template says, and the words and the line of what is said of it
HOSTILE = [
    ("a\n{{ ''.__class__ }}", "line 2: access to attribute '__class__'"),
    ("{{ ''|attr('__class__') }}", "is unsafe"),
    ("{{ '{0._write}'.format(symscale('training/fsdp')) }}", "is unsafe"),
    ("{{ symscale.__globals__ }}", "is unsafe"),
    ("{% for i in range(10**9) %}{% endfor %}", "no end in sight"),
    ("{{ 'a' * 10**10 }}", "longer than a document"),
    ("{{ 10**(10**10) }}", "thousand digits"),
    ("{{ [0] * 10**9 }}", "longer than a document"),
    ("{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}", "nested too deeply"),
    ("{% include 'doc.md.j2' %}", "includes itself"),
    ("{% include '../secret.md' %}", "outside of the document's folder"),
    ("{% include 'link.md' %}", "outside of the document's folder"),
    ("{% include 'nowhere.md' %}", "there is no file nowhere.md"),
    ("{{ symscal('a') }}", "Did you mean symscale?"),
    ("{{ symscale('training/fsdp').clame }}", "Did you mean claim?"),
    ("\n\n{{ symscale('training/fsdq').claim }}", "line 3: There is no derivation"),
    ("{{ symscale('training/fsdp').value('T_coms') }}", "Did you mean T_comms?"),
    ("{{ symscale('training/fsdp').value(digts=3) }}", "Did you mean digits?"),
    ("{{ symscale('training/fsdp') }}", "Which piece"),
    ("{{ symscale('training/fsdp').claim.number }}", "is no number"),
    ("{{ 'B*'|formula }}", "line 1:"),
    ("{% fro %}", "unknown tag 'fro'"),
    ("{{ a ", "line 1: unexpected end"),
    ("{{ 1/0 }}", "division by zero"),
    ("{{ lipsum(5) }}", "'lipsum' is undefined"),
    ("{{ [nowhere] }}", "'nowhere' is undefined"),
    ("{{ nowhere.__class__ }}", "'nowhere' is undefined"),
    ("{{ [nowhere]|tojson }}", "'nowhere' is undefined"),
    ("{{ ['x']|map(attribute='nope')|list }}", "has no attribute 'nope'"),
    ("{{ symscale }}", "What is printed here is a function"),
    ("{{ range }}", "What is printed here is a function"),
    ("{{ 'a'.upper }}", "What is printed here is a function"),
    ("{{ ['a']|map('upper') }}", "nothing has run through yet"),
    ("{% macro f() %}{% endmacro %}{{ f }}", "What is printed here is a function"),
    ("{{ dict['mro'] }}", "has no attribute 'mro'"),
    ("{{ 1.5|round(10**10, 'ceil') }}", "No number has 10000000000 digits"),
    ("{{ 1.5|round(-400) }}", "No number has -400 digits"),
    ("{{ (('f'*9999)|int(0, 16)) // (('f'*9999)|int(0, 16)) }}", "so many digits is not meant"),
    ("{{ (('f'*9999)|int(0, 16)) % (('f'*9999)|int(0, 16)) }}", "so many digits is not meant"),
    ("{{ (1e308*10)|number }}", "is no number"),
    ("{{ 10.0**400 }}", "OverflowError"),
    ("{{ 5 is divisibleby 0 }}", "ZeroDivisionError"),
    ("{{ range(10**30) }}", "no end in sight"),
    ("{{ range(5, 3, 0) }}", "must not be zero"),
    ("{{ 'a'.expandtabs(10**10) }}", "OverflowError"),
    ("{{ 'a'.encode().decode('rot13') }}", "is not a text encoding"),
    ("{% include symscale %}", "TypeError"),
    ("{% include [1, 2] %}", "TypeError"),
    ("{% include '\x00' %}", "there is no file"),
    ("{% include 'loop.md' %}", "there is no file loop.md"),
    ("{% extends 'doc.md.j2' %}", "includes itself"),
    ("{% import 'doc.md.j2' as x %}", "includes itself"),
    ("{% block a %}{{ self.a() }}{% endblock %}", "nested too deeply"),
    ("{% for x in [[1]] recursive %}{{ loop([[1]]) }}{% endfor %}", "nested too deeply"),
    (
        "{% set n = namespace(x=[]) %}{% for i in range(9999) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x }}",
        "nested too deeply",
    ),
    ("{{ 'training/regimes figure file=../x.svg'|symscale }}", "cannot be drawn into"),
    ("{{ 'training/fsdp claim label=a}b'|symscale }}", "is no name of a label"),
    ("{{ ('('*100000)|formula }}", "the limit is 100,000"),
]


@pytest.mark.parametrize(("text", "words"), HOSTILE)
def test_what_is_wrong_in_a_template_says_where(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "link.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "papers" / "loop.md").symlink_to("loop.md")
    with pytest.raises(SymscaleError) as caught:
        made(tmp_path / "papers", "doc.md.j2", text)
    assert words in str(caught.value)
    assert caught.value.message.startswith("doc.md.j2, line ")
    assert caught.value.hint


def test_loops_end_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = "{% for i in range(99999) %}{% for j in range(99999) %}BODY{% endfor %}{% endfor %}"
    monkeypatch.setattr(limits, "SECONDS", 0.1)
    with pytest.raises(SymscaleError, match="line 2: the template's loops take too long"):
        made(tmp_path, "doc.md.j2", "\n" + rounds.replace("BODY", ""))
    monkeypatch.setattr(limits, "SECONDS", 5.0)
    monkeypatch.setattr(limits, "LETTERS", 1000)
    with pytest.raises(SymscaleError, match="longer than"):
        made(tmp_path, "doc.md.j2", rounds.replace("BODY", "many letters"))
    monkeypatch.setattr(fill, "PIECES", 20)
    with pytest.raises(SymscaleError, match="more than 20 pieces"):
        made(
            tmp_path, "doc.md.j2", rounds.replace("BODY", "{% if symscale('training/fsdp').value|string %}{% endif %}")
        )


def test_a_process_of_its_own_fills_in_and_bounds_memory(tmp_path: Path) -> None:
    (tmp_path / "a.md.j2").write_text("{{ 'a'.ljust(10**10) }}", encoding="utf-8")
    with pytest.raises(SymscaleError, match="line 1: the template needs too much memory"):
        rendering.render(tmp_path / "a.md.j2")


def test_what_is_wrong_with_files_is_said(tmp_path: Path) -> None:
    (tmp_path / "long.md.j2").write_text("a" * 5_000_001, encoding="utf-8")
    with pytest.raises(SymscaleError, match="longer than 5 MB"):
        filled(tmp_path / "long.md.j2", dialect_of("long.md"), None, False)
    (tmp_path / "symscale.toml").write_text("[style]\ndigit = 3", encoding="utf-8")
    with pytest.raises(SymscaleError, match="there is no key 'digit'"):
        made(tmp_path, "a.md.j2", "a")


def test_a_byte_order_mark_stays(tmp_path: Path) -> None:
    assert made(tmp_path, "a.md.j2", "\ufeffa {{ 1 + 1 }}") == "\ufeffa 2"


def test_a_template_is_text(tmp_path: Path) -> None:
    (tmp_path / "b.tex.j2").write_bytes(b"a\n\xff")
    with pytest.raises(SymscaleError, match="is not UTF-8"):
        filled(tmp_path / "b.tex.j2", dialect_of("b.tex"), None, False)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fill templates in by this process, which has everything imported."""
    monkeypatch.setattr(rendering, "in_a_process", fill.answer)


@pytest.mark.usefixtures("here")
def test_the_command_writes_checks_and_keeps_ends_of_lines(tmp_path: Path) -> None:
    template, out = tmp_path / "paper.tex.j2", tmp_path / "paper.tex"
    template.write_bytes(b'%% set f = symscale("training/fsdp")\r\n\\VAR{f.claim}\r\n')
    (tmp_path / "symscale.toml").write_text("[style.rename]\nW_ici = '\\beta'\n", encoding="utf-8")
    assert run(["render", str(template), "-o", str(out), "--check"]) == 1
    assert not out.exists()
    assert run(["render", str(template), "-o", str(out)]) == 0
    text = out.read_bytes().decode()
    assert text.startswith("% Made by symscale render from paper.tex.j2: ")
    assert r"\frac{bC}{2 \beta}" in text
    assert text.count("\n") == text.count("\r\n") == 4
    assert run(["render", str(template), "-o", str(out), "--check"]) == 0
    out.write_bytes(out.read_bytes().replace(b"beta", b"gamma"))
    shown = CliRunner().invoke(cli, ["render", str(template), "-o", str(out), "--check"], standalone_mode=False)
    assert shown.return_value == 1
    assert "-\\frac{B}{X} \\ge \\frac{bC}{2 \\gamma}" in shown.output
    out.chmod(0o444)
    before = out.read_bytes()
    assert run(["render", str(template), "-o", str(out)]) == 2
    assert out.read_bytes() == before


@pytest.mark.usefixtures("here")
def test_a_template_is_never_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template, part = tmp_path / "paper.md", tmp_path / "part.md"
    template.write_text("{% include 'part.md' %}", encoding="utf-8")
    part.write_text("part", encoding="utf-8")
    for out in (template, part):
        assert run(["render", str(template), "-o", str(out)]) == 2
        assert "is a template itself" in capsys.readouterr().err
    assert part.read_text(encoding="utf-8") == "part"
    for arguments, words in (
        (["nowhere.md.j2"], "cannot be read"),
        ([str(tmp_path)], "is a folder"),
        ([str(template), "--dialect", "word"], "There is no dialect"),
        ([str(template), "-o", str(tmp_path)], "is a folder"),
        ([str(template), "-o", str(tmp_path / "no" / "a.md")], "cannot be written"),
        ([str(template), "--check"], "none is named"),
    ):
        assert run(["render", *arguments]) == 2
        assert words in capsys.readouterr().err


@pytest.mark.usefixtures("here")
def test_a_figure_is_drawn_beside_the_document(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    template, out = tmp_path / "a.md.j2", tmp_path / "a.md"
    template.write_text('{{ symscale("training/regimes").figure(1, file="plots/r.svg") }}', encoding="utf-8")
    assert run(["render", str(template), "-o", str(out)]) == 0
    drawn = tmp_path / "plots" / "r.svg"
    assert "](plots/r.svg)" in out.read_text(encoding="utf-8")
    assert "<svg" in drawn.read_text(encoding="utf-8")
    drawn.unlink()
    assert run(["render", str(template), "-o", str(out), "--check"]) == 1
    assert not drawn.exists()
    with pytest.raises(SymscaleError, match="cannot be drawn"):
        made(tmp_path, "b.md.j2", '{{ symscale("training/regimes").figure(1, file="../r.svg") }}')
