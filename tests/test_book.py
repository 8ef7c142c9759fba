"""Chapters and the book: contents, symbols, references, LaTeX that compiles, and runs that derive nothing twice."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from pages import said

from symscale import parse_relation, symbol, text
from symscale.cli import run
from symscale.derivation import registry
from symscale.derivation.citation import split
from symscale.derivation.registry import blackboard, entry, ids, written
from symscale.errors import SymscaleError
from symscale.report import manifest, pieces, steps_json
from symscale.report.contents import chapters
from symscale.report.library import render_all, rendered
from symscale.report.narrow import breakable_latex, heading_latex
from symscale.report.references import entries, references
from symscale.report.symbols import tables, used

ROOT = Path(__file__).parent.parent
REPORTS = ROOT / "reports"
OWN = '''"""A chapter of my own: one section."""

from symscale import derivation


@derivation("own/{name}", title="When is {name} > 1 worth it?", source="somebody {cites}")
def own(d):
    layer = d.program("x[B, D_X] * W[D, Q_X] -> y[B, Q_X]", passes=["forward"])
    t = d.times(layer)
    d.number("T_load", d.read("M_weights/W_hbm"), on="tpu-v5e", values={{"M_weights": 16 * 10**9}})
    d.number("crates", d.read("n*q"), values={{"n": 3, "q": 4}})
'''
BIB = """@article{key2020, author = {Łukasz Ñandú and Bobby {\\'E}va and others}, title = {{On $x^2$ & 5\\% #1}},
  journal = {J\\_1}, year = 2020, doi = {10.1/a_b}, url = {https://x.org/a_b?c=1&d=%20#e}}
@oddity{odd, title = {A type that styles do not know}}
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Two chapters of a user's own, the second with two sections, and a .bib file beside them."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for file, name, cites in (("ch10_b", "late", "[@odd]"), ("ch9_a", "one", "[@key2020]"), ("ch9_b", "two", "")):
        (folder / f"{file}.py").write_text(OWN.format(name=name, cites=cites), encoding="utf-8")
    (folder / "mine.bib").write_text(BIB, encoding="utf-8")
    monkeypatch.setattr(registry, "folders", lambda: (folder,))
    monkeypatch.setattr(manifest, "folders", lambda: (folder,))
    monkeypatch.setattr("symscale.report.references.folders", lambda: (folder,))
    monkeypatch.setattr("symscale.report.pool.cores", lambda: 1)  # other processes would see another library
    forget()
    yield folder
    forget()


def forget() -> None:
    """Forget what has been derived, as a new process would."""
    registry._files.cache_clear()
    blackboard.cache_clear()
    for name in [each for each in registry._registry if each.startswith("own/")]:
        del registry._registry[name]


# ------------------------------------------------------------------ contents


def test_every_derivation_is_in_one_chapter_and_in_the_contents_once():
    every = [name for each in chapters() for name in each.ids]
    assert sorted(every) == sorted(ids())
    front, book = (REPORTS / "book.md").read_text(encoding="utf-8"), (REPORTS / "book.tex").read_text(encoding="utf-8")
    listed = Counter(re.findall(r"^    - \[.*\]\(\w+\.md#([\w/.-]+)\)$", front, re.MULTILINE))
    assert listed == Counter(every)
    plain = re.findall(r"\\subsection\{.*\}\n\\noindent\{\\small\\ttfamily (.*?)\}(?:\\quad|\n|~)", book)
    assert Counter(re.sub(r"\\allowbreak\{\}|\{\}", "", each) for each in plain) == Counter(every)
    for chapter in chapters():
        page = (REPORTS / f"{chapter.name}.md").read_text(encoding="utf-8")
        shown = re.findall(r'^<a id="([^"]+/[^"]+)"></a>\n\n### ', page, re.MULTILINE)
        assert shown == list(chapter.ids)


def test_every_link_leads_somewhere():
    anchors = {}
    for file in REPORTS.glob("*.md"):
        page = file.read_text(encoding="utf-8")
        heads = re.findall(r"^## ([\w ]+)$", page, re.MULTILINE)
        named = re.findall(r'<a id="([^"]+)"></a>', page)
        assert len(set(named)) == len(named), file.name
        anchors[file.name] = {*named, *(head.lower().replace(" ", "-") for head in heads)}
    for name in anchors:
        page = (REPORTS / name).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)\s]*)\)", page):
            file, _, anchor = target.partition("#")
            if target.startswith(("http:", "https:")):
                continue
            assert not file or (REPORTS / file).is_file(), (name, target)
            assert not anchor or anchor in anchors[file or name], (name, target)


def test_files_of_a_chapter_are_its_sections_and_chapter_10_follows_9(library):
    found = chapters()
    assert [each.name for each in found] == ["ch9", "ch10"]
    assert found[0].title == "A chapter of my own"
    assert [each.title for each in found[0].sections] == ["One section", "One section"]
    assert found[0].ids == ("own/one", "own/two")


def test_a_name_that_is_taken_gets_its_folder_in_front(tmp_path, library):
    (library / "book.py").write_text(OWN.format(name="three", cites=""), encoding="utf-8")
    registry._files.cache_clear()
    assert [each.name for each in chapters()] == ["mine_book", "ch9", "ch10"]


# ------------------------------------------------------------------ symbols


@pytest.mark.parametrize("chapter", ["ch1", "parallelism_pipeline"])
def test_the_table_has_exactly_the_symbols_that_are_printed(chapter):
    """The judge is the JSON of the steps, read back by the grammar."""
    names = next(each.ids for each in chapters() if each.name == chapter)
    for name in names:
        derivation = written(name)
        told = {each.name for each in used(derivation)}
        read = set()
        for step in json.loads(steps_json(derivation))["steps"]:
            for each in map(parse_relation, (*step["equation"], *step["when"])):
                read |= {one.name for one in each.lhs.free_symbols | each.rhs.free_symbols}
        assert read <= told
        # the rest stands in conditions and in the words of reasons
        shown = text(derivation)
        assert all(re.search(rf"(?<!\w){re.escape(each)}(?!\w)", shown) for each in told)


def test_units_are_those_of_the_table_stated_or_solved(library):
    known, own = tables([("own/one", used(written("own/one")))])
    units = {row.name: row.unit for row in (*known, *own)}
    assert units["W_hbm"] == "B/s"
    assert units["T_load"] == "s"
    assert units["M_weights"] == "B"
    assert units["crates"] == units["n"] == units["Q"] == "1"
    rows = {row.name: row for row in own}
    assert rows["Q"].meaning == "size of the dimension Q"
    assert rows["crates"].ids == ("own/one",)
    page = rendered()["ch9.md"]
    assert "| $B$ | batch, in tokens | 1 |" in page
    assert r"| $\text{crates}$ | 1 | [`own/one`](#own/one), [`own/two`](#own/two) |" in page
    assert "| $F$ |" not in page


# ------------------------------------------------------------------ references


def test_every_derivation_of_the_library_cites_an_entry():
    found = entries()
    for each in ids():
        assert entry(each).cites, each
        assert set(entry(each).cites) <= found.keys()
    cited = {key for each in ids() for key in entry(each).cites}
    assert cited == found.keys(), "an entry that nothing cites"


def test_every_citation_of_a_document_resolves():
    for file in REPORTS.glob("*.tex"):
        shown = file.read_text(encoding="utf-8")
        cited = {key for keys in re.findall(r"\\cite\{([^}]*)\}", shown) for key in keys.split(",")}
        assert cited == set(re.findall(r"\\bibitem\{([^}]*)\}", shown)), file.name
        assert cited


@pytest.mark.parametrize(
    ("source", "words", "keys"),
    [
        ("GPipe [@huang2019]", "GPipe", ("huang2019",)),
        ("Two [@a; @b:c], ch. 5", "Two, ch. 5", ("a", "b:c")),
        ("nobody", "nobody", ()),
        ("[@a]", "", ("a",)),
    ],
)
def test_a_source_is_split_into_words_and_keys(source, words, keys):
    assert split(source) == (words, keys)


def test_a_source_without_a_key_in_its_brackets_is_refused():
    with pytest.raises(SymscaleError, match="which is no key"):
        split("nobody [@]")


def test_an_unknown_key_is_refused_with_the_keys_there_are(library, capsys, tmp_path, monkeypatch):
    (library / "ch9_b.py").write_text(OWN.format(name="two", cites="[@nobody1999]"), encoding="utf-8")
    monkeypatch.setattr(pieces, "piece", lambda name: pytest.fail("nothing is derived before that is said"))
    assert run(["report", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "own/two cites 'nobody1999', which no .bib file beside the derivations has" in said
    assert "There are key2020, odd." in said
    (library / "mine.bib").unlink()
    with pytest.raises(SymscaleError, match=r"Put a file references.bib"):
        references([("own/two", ("nobody1999",))])


def test_files_that_are_no_bibtex_or_contradict_each_other_are_refused(library):
    (library / "other.bib").write_text("@misc{key2020, title = {Something else}}", encoding="utf-8")
    with pytest.raises(SymscaleError, match=r"mine.bib and .*other.bib say different things of 'key2020'"):
        entries()
    (library / "other.bib").write_text(BIB, encoding="utf-8")
    assert entries().keys() == {"key2020", "odd"}
    (library / "other.bib").write_text("@misc{x, title = {y", encoding="utf-8")
    with pytest.raises(SymscaleError, match=r"other.bib: syntax error in line 1"):
        entries()


def test_references_are_escaped_in_both_formats(library):
    found = references([("own/one", ("key2020", "odd"))])
    assert list(found) == ["key2020", "odd"]
    reference = found["key2020"]
    assert "Łukasz Ñandú" in reference.latex
    assert "Bobby Éva" in reference.markdown
    assert r"5\% \#1" in reference.latex
    assert not re.search(r"(?<!\\)[%#&]", re.sub(r"\\href\{[^}]*\}", "", reference.latex))
    assert re.search(r"\\href\{https://x.org/a_b\?c=1\\&d=\\%20\\#e\}", reference.latex)
    assert "](https://doi.org/10.1/a_b)" in reference.markdown
    assert not re.search(r"(?<!\\)[$<]", reference.markdown)
    assert "A type that styles do not know" in found["odd"].markdown.replace("\\", "")
    assert '<a id="ref-key2020"></a>Łukasz' in rendered()["ch9.md"]
    assert r"\cite{key2020}" in rendered()["ch9.tex"]


# ------------------------------------------------------------------ LaTeX


def test_headings_and_narrow_columns():
    assert heading_latex("plain") == "plain"
    assert heading_latex("X >= 1") == r"\texorpdfstring{X $\ge$ 1}{X >= 1}"
    assert breakable_latex("ch1.num.a-b") == r"ch1.\allowbreak{}num.\allowbreak{}a-{}\allowbreak{}b"
    assert breakable_latex("1.5 × 10^-4") == r"$1.5 \times 10^{-4}$"


@pytest.mark.verify
@pytest.mark.parametrize("name", [pytest.param("book", marks=pytest.mark.verify), "runs", "ch5"])
def test_a_report_compiles_alone_without_an_undefined_reference_or_a_wide_line(name, tmp_path):
    compiler = shutil.which("pdflatex")
    if compiler is None:
        pytest.skip("pdflatex is not installed, so it did not compile the report")
    shutil.copy(REPORTS / f"{name}.tex", tmp_path)
    for _ in range(2):
        arguments = [compiler, "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
        done = subprocess.run(arguments, capture_output=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout[-2000:].decode(errors="replace")
    log = (tmp_path / f"{name}.log").read_text(encoding="latin-1")
    assert "undefined" not in log
    wide = re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)
    assert [each for each in wide if float(each) > 10] == []


# ------------------------------------------------------------------ runs


def test_an_unchanged_run_derives_nothing(library, capsys, tmp_path, monkeypatch):
    target = str(tmp_path / "out")
    assert said(capsys, "report", target).count("written") == 8
    monkeypatch.setattr(pieces, "piece", lambda name: pytest.fail("derived again"))
    assert said(capsys, "report", target) == said(capsys, "report", target, "--check") == "Every report is current.\n"


@pytest.mark.parametrize("file", ["ch9_a.py", "mine.bib", "notes.txt"])
def test_a_changed_source_is_noticed(file, library, capsys, tmp_path):
    target = tmp_path / "out"
    render_all(target)
    before = (library / file).read_text(encoding="utf-8") if file != "notes.txt" else ""
    changed = before.replace("worth it", "useful").replace("2020", "2021").replace("key2021", "key2020") + "\n"
    (library / file).write_text(changed, encoding="utf-8")
    forget()
    assert not manifest.current(target, manifest.inputs())
    stale = said(capsys, "report", str(target), "--check", code=int(file != "notes.txt"))
    assert ("ch9.md" in stale) is (file != "notes.txt")
    said(capsys, "report", str(target))
    assert manifest.current(target, manifest.inputs())


@pytest.mark.parametrize("where", ["when it is loaded", "when it derives"])
def test_a_file_that_is_read_from_elsewhere_is_an_input(where, library, tmp_path):
    other = tmp_path / "elsewhere.txt"
    other.write_text("3", encoding="utf-8")
    read = f"int(Path({str(other)!r}).read_text())"
    source = OWN.format(name="one", cites="").replace("\n\n\n@", "\nfrom pathlib import Path\n\nN = 3\n\n\n@")
    old = "N = 3" if where == "when it is loaded" else '"n": 3'
    (library / "ch9_a.py").write_text(source.replace(old, old[:-1] + read), encoding="utf-8")
    target = tmp_path / "out"
    render_all(target)
    assert manifest.current(target, manifest.inputs())
    other.write_text("5", encoding="utf-8")
    assert not manifest.current(target, manifest.inputs())


@pytest.mark.parametrize("how", ["edited", "removed"])
def test_a_report_changed_by_hand_is_noticed(how, library, capsys, tmp_path):
    target = tmp_path / "out"
    render_all(target)
    if how == "edited":
        (target / "book.tex").write_text("mine", encoding="utf-8")
    else:
        (target / "book.tex").unlink()
    assert said(capsys, "report", str(target), "--check", code=1) == f"stale: {target / 'book.tex'}\n"
    assert said(capsys, "report", str(target)) == f"written: {target / 'book.tex'}\n"


@pytest.mark.parametrize("text", ["", "{}", "[]", "no JSON", '{"inputs": 1, "read": {}, "written": {}}'])
def test_a_broken_manifest_hides_nothing(text, library, tmp_path):
    target = tmp_path / "out"
    render_all(target)
    (target / "ch9.md").write_text("old", encoding="utf-8")
    (target / manifest.NAME).write_text(text, encoding="utf-8")
    assert render_all(target, check=True) == [target / "ch9.md"]


def test_only_one_chapter(library, capsys, tmp_path):
    target = tmp_path / "out"
    assert said(capsys, "report", str(target), "--only", "ch10").count("written") == 2
    assert {each.name for each in target.iterdir()} == {"ch10.md", "ch10.tex"}
    said(capsys, "report", str(target), "--only", "own/two")
    assert (target / "ch9.tex").is_file()
    assert run(["report", str(target), "--only", "ch11"]) == 2
    assert "The chapters are ch9, ch10." in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_an_error(library, capsys, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert run(["report", str(tmp_path / "file" / "out")]) == 2
    assert "cannot be made" in capsys.readouterr().err


def test_processes_render_the_same_and_pass_errors_on(capsys, tmp_path, monkeypatch):
    folder = tmp_path / "mine"
    folder.mkdir()
    good, bad = OWN.format(name="good", cites=""), OWN.format(name="bad", cites="")
    (folder / "good.py").write_text(good, encoding="utf-8")
    (folder / "bad.py").write_text(bad.replace('"n*q", ', '"n*q"').replace("x[B, D_X]", "x[B, D_X"), encoding="utf-8")
    monkeypatch.setenv(registry.FOLDERS_VARIABLE, str(folder))
    forget()
    several = ["--only", "good", "--only", "runs", "--workers", "2"]
    assert said(capsys, "report", str(tmp_path / "two"), *several).count("written") == 4
    assert said(capsys, "report", str(tmp_path / "one"), "--only", "good", "--workers", "1").count("written") == 2
    assert (tmp_path / "two" / "good.md").read_bytes() == (tmp_path / "one" / "good.md").read_bytes()
    assert (tmp_path / "two" / "runs.tex").read_bytes() == (REPORTS / "runs.tex").read_bytes()
    assert run(["report", str(tmp_path / "three"), "--only", "bad", *several]) == 2
    shown = capsys.readouterr().err
    assert "x[B, D_X" in shown
    assert "Traceback" not in shown
    assert not list((tmp_path / "three").iterdir())
    forget()


def gone(group: int) -> bool:
    """Return whether no process of a group is left; wait a little if one is."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    time.sleep(0.05)
    return False


def test_ctrl_c_ends_all_processes_with_one_paragraph(tmp_path):
    target = tmp_path / "out"
    command = [sys.executable, "-m", "symscale", "report", str(target), "--workers", "2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)
    while not target.is_dir() and process.poll() is None:
        time.sleep(0.05)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said.strip() == "symscale: interrupted; every file is as it was, or complete."
    assert list(target.iterdir()) == []
    assert any(gone(process.pid) for _ in range(100))


def test_show_prints_the_words_of_a_source_without_bibtex(library, capsys):
    assert "somebody" in said(capsys, "list")
    assert "[@" not in said(capsys, "list") + said(capsys, "show", "own/one", "--format", "latex")
    assert symbol("B").name in said(capsys, "show", "own/one")
