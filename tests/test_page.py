"""Pages without a browser: their structure, what is escaped, and the scripts against Python's numbers."""

from __future__ import annotations

import base64
import hashlib
import random
import re
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise

import pytest
import sympy as sp
from pagescripts import scripted

from symscale import Question, derive, symbol
from symscale.cli import run
from symscale.derivation.proof import Evaluated
from symscale.derivation.registry import blackboard, ids
from symscale.derivation.step import Derivation
from symscale.errors import SymscaleError
from symscale.notation.formula import parse_formula
from symscale.notation.numbers import format_number, format_quantity
from symscale.page.page import html
from symscale.page.script import javascript

HOSTILE = "</script><img src=x onerror=alert(1)> {{ 7*7 }} & \"'<!--"
VOID = {"meta", "input", "img", "br", "link", "hr"}


class Tree(HTMLParser):
    """The elements of a page, and whether they close in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@cache
def page(*names: str) -> str:
    return html(*(blackboard(each).derivation for each in names), title="" if len(names) == 1 else "Two")


PAGES = [("training/fsdp",), ("training/regimes", "roofline/chip"), ("memory/zero",), ("inference/slices",)]


@pytest.mark.parametrize("names", PAGES)
def test_a_page_is_sound(names: tuple[str, ...]) -> None:
    tree = Tree(page(*names))
    places = [attributes["id"] for _, attributes in tree.elements if "id" in attributes]
    assert len(places) == len(set(places))
    fields = {each["id"] for each in (*tree.all("input"), *tree.all("select")) if "id" in each}
    assert fields <= {each.get("for") for each in tree.all("label")}
    described = {word for _, each in tree.elements for word in (each.get("aria-describedby") or "").split()}
    assert described <= set(places)
    levels = [int(tag[1]) for tag, _ in tree.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("names", PAGES)
def test_a_page_asks_for_nothing(names: tuple[str, ...]) -> None:
    tree = Tree(page(*names))
    assert not [
        each for tag, each in tree.elements if {"src", "srcset", "data", "action"} & each.keys() or tag == "link"
    ]
    assert all((each.get("href") or "#").startswith("#") for _, each in tree.elements)
    assert "url(http" not in page(*names)
    policy = next(each["content"] for each in tree.all("meta") if each.get("http-equiv") == "Content-Security-Policy")
    script = re.search(r"<script>(.*)</script>", page(*names), re.DOTALL)
    assert script is not None
    assert policy is not None
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy
    assert len(page(*names)) < 1_500_000


def test_what_a_user_writes_is_no_markup() -> None:
    found = blackboard("training/fsdp").derivation
    step = found.steps[-1]
    from dataclasses import replace

    lines = (*step.lines, HOSTILE, (symbol("B"), f" = {HOSTILE}"))
    hostile = replace(step, title=HOSTILE, reason=HOSTILE, lines=lines, units=(HOSTILE,) * len(step.equations))
    given = replace(found.steps[0], lines=(HOSTILE,))
    shown = html(Derivation(HOSTILE, (given, *found.steps[1:-1], hostile), found.order, HOSTILE), title=HOSTILE)
    tree = Tree(shown)
    assert not tree.all("img")
    assert len(tree.all("script")) == 1
    assert not [each for _, each in tree.elements if any(name.startswith("on") for name in each)]
    assert shown.count("</script>") == 1
    assert shown.count("<script>") == 1


def test_a_question_of_a_users_own_is_a_page() -> None:
    answered = derive(Question("x[B, D] * W[D, F] -> y[B, F]", solve="B", on="tpu-v5e", passes="forward"))
    shown = html(answered.derivation)
    assert 'id="d0-i0"' in shown
    assert re.search(r'<span class="num" id="d0-n\d+">240\.244</span> <span class="unit">tokens</span>', shown)


def test_a_page_of_nothing_is_refused() -> None:
    with pytest.raises(SymscaleError, match="nothing to show"):
        html()


# ------------------------------------------------------------------ the command


def test_show_and_report_write_pages(tmp_path, capsys) -> None:
    assert run(["show", "training/fsdp", "--format", "html"]) == 0
    assert capsys.readouterr().out.startswith("<!doctype html>")
    target = tmp_path / "page.html"
    assert run(["report", "--format", "html", "training/fsdp", "roofline/matmul", "-o", str(target)]) == 0
    assert target.read_text(encoding="utf-8").count("<article") == 2


def test_a_chapter_is_a_page_and_known_to_be_current(tmp_path, capsys) -> None:
    arguments = ["report", "--format", "html", "--only", "runs", "-o", str(tmp_path / "pages")]
    assert run([*arguments, "--check"]) == 1
    assert run(arguments) == 0
    assert run([*arguments, "--check"]) == 0
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        "stale",
        "written",
        "Every report is current.",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["report", "--format", "pdf"], "Unknown format 'pdf'"),
        (["report", "one", "two"], "go to one folder"),
        (["report", "--format", "html", "training/nothing"], "There is no derivation"),
        (["report", "--format", "html", "training/fsdp", "--check"], "made whole"),
        (["derive", "x[B, D] * W[D, F] -> y[B, F]", "--table", "B=1:4", "--format", "html"], "no table"),
    ],
)
def test_what_no_page_is_made_of(arguments: list[str], words: str, capsys) -> None:
    assert run(arguments) == 2
    assert words in capsys.readouterr().err


OWN_CHIP = """
name = "acme-1"
title = "Acme 1"
source = "a data sheet"

[peak]
bf16 = { value = 400, unit = "TFLOP/s" }
fp8 = { value = 800, unit = "TFLOP/s" }

[network.ici]
kind = "torus"
pod = [8, 8]
wrap = { rule = "always" }
bandwidth = { value = 100, unit = "GB/s", direction = "one_way", per = "link" }
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "training/fsdp"],
        ["report", "training/fsdp"],
        ["report", "--only", "runs", "--workers", "1", "-o", "pages"],
    ],
)
def test_chips_of_a_folder_can_be_chosen(tmp_path, monkeypatch, capsys, arguments: list[str]) -> None:
    (tmp_path / "chips").mkdir()
    (tmp_path / "chips" / "acme.toml").write_text(OWN_CHIP, encoding="utf-8")
    (tmp_path / "symscale.toml").write_text('machines = ["chips"]\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert run([*arguments, "--format", "html"]) == 0
    said = capsys.readouterr().out
    shown = said if said.startswith("<!doctype") else next(tmp_path.glob("pages/*.html")).read_text(encoding="utf-8")
    assert "Acme 1" in re.search(r"const OFFERED = (.*);", shown)[1]
    assert '"Acme 1":{"C_bf16":fraction(400000000000000n,1n),"C_fp8":' in shown


# ------------------------------------------------------------------ the scripts, by node

FORMULAS = (
    "4*B*D*F/(X*C)",
    "sqrt(B*X/F)",
    "sqrt(B)*sqrt(X)/(D*F)",
    "max(B/3, D/X, 7)",
    "min(B, D) - F/7",
    "ceil(B/X)*floor(D/3)",
    "log(B)/log(2)",
    "B^(3/2)/X",
    "1 - 1/X",
    "1/(1 - sqrt(1 - 1/(B*D)))",
    "(B - D)/(B + D)",
    "exp(1/X) - 1",
    "(1 - 1/X)^4",
    "B^k",
    "459000000000000000001*B",
)


@pytest.mark.verify
def test_scripts_count_and_print_as_python_does() -> None:
    rng = random.Random(11)
    wanted, code = [], []
    units = ("s", "B", "FLOP/s", "tokens", "chip", "")
    for text in FORMULAS:
        form = parse_formula(text).expr
        names = sorted(form.free_symbols, key=str)
        for n in range(40):
            power = [sp.Integer(2) ** rng.randint(0, 12) for _ in names]
            ratio = [sp.Rational(rng.randint(1, 10**6), 10 ** rng.randint(0, 4)) for _ in names]
            values = [
                sp.Integer(rng.randint(1, 9)) if each.name == "k" else v
                for each, v in zip(names, ratio if n % 2 else power, strict=True)
            ]
            found = form.xreplace(dict(zip(names, values, strict=True)))
            unit = rng.choice(units)
            wanted.append([format_number(found, 6), format_quantity(found, unit, 6)])
            given = ",".join(f"exact.q({each.p}n,{each.q}n)" for each in values)
            call = f"(a,v)=>{javascript(form, {each: place for place, each in enumerate(names)})}"
            code.append(f"[({call})(exact,[{given}]),{unit!r}]")
    shown = scripted(
        f"[{','.join(code)}].map(([x,u])=>[formatNumber(x,6),formatQuantity(x,u,6).filter(Boolean).join(' ')])"
    )
    assert shown == wanted


@pytest.mark.verify
def test_scripts_find_the_numbers_of_the_library() -> None:
    wanted, code = [], []
    for name in ("training/fsdp", "training/mixed", "roofline/matmul", "serving/slices", *ids()[:12]):
        for step in blackboard(name).derivation.steps:
            for proof in (each for each in step.proofs if isinstance(each, Evaluated)):
                for form, equation in zip(proof.expressions, step.equations, strict=True):
                    values = dict(proof.values)
                    names = [each for each in sorted(form.free_symbols, key=str) if each in values]
                    if len(names) == len(form.free_symbols):
                        wanted.append(format_number(equation.rhs, 6))
                        given = ",".join(f"exact.q({values[each].p}n,{values[each].q}n)" for each in names)
                        places = {each: place for place, each in enumerate(names)}
                        code.append(f"((a,v)=>{javascript(form, places)})(exact,[{given}])")
    assert len(wanted) > 10
    assert scripted(f"[{','.join(code)}].map((x)=>formatNumber(x,6))") == wanted
