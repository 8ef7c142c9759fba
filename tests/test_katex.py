"""Every formula of the Markdown reports against KaTeX, which is what renders them (`make verify`, with npm)."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest

from symscale.exercise.quiz import quiz
from symscale.report.library import rendered
from symscale.report.quiz import quiz_text

pytestmark = pytest.mark.verify

SCRIPT = """
const katex = require('katex');
const formulas = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const wrong = [];
for (const [text, display] of formulas) {
  const warn = (code, message) => { wrong.push([text, message]); return 'ignore'; };
  try { katex.renderToString(text, {displayMode: display, throwOnError: true, strict: warn}); }
  catch (error) { wrong.push([text, error.message]); }
}
console.log(JSON.stringify(wrong));
"""


def node(script: str, given: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("node")
    if program is None:
        pytest.skip("node is not installed, so KaTeX did not check the formulas")
    return subprocess.run([program, "-e", script], input=given, capture_output=True, text=True, timeout=120)


def pages() -> dict[str, str]:
    """Return the pages of the reports, and quizzes of the chapters with the longest formulas."""
    quizzes = {f"quiz-{each}.md": quiz_text(quiz(each, 14, 3, vary=True), "md") for each in ("3", "5", "7", "12")}
    return {**rendered(), **quizzes}


def test_every_formula_is_one_that_katex_reads():
    if node("require('katex')", "").returncode:
        pytest.skip("katex is not installed, so it did not check the formulas: npm install katex, and set NODE_PATH")
    formulas = []
    for name, text in pages().items():
        if name.endswith(".md"):
            shown = re.sub(r"(`+)[^`].*?\1|\\\$", "", text, flags=re.DOTALL)
            formulas += [(found, True) for found in re.findall(r"\$\$(.+?)\$\$", shown, re.DOTALL)]
            shown = re.sub(r"\$\$.+?\$\$", "", shown, flags=re.DOTALL)
            formulas += [(found, False) for found in re.findall(r"\$([^$]+)\$", shown)]
    assert len(formulas) > 100
    checked = node(SCRIPT, json.dumps(formulas))
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout) == []
