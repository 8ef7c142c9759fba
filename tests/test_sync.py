"""Blocks in documents: found where they are, refreshed in one piece, and nothing else of a document touched."""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symscale.errors import SymscaleError
from symscale.paper import held, many
from symscale.paper.blocks import document
from symscale.paper.comments import HTML, LATEX, MARKDOWN, SUFFIXES, TYPST, Syntax
from symscale.paper.difference import unified
from symscale.paper.held import locked
from symscale.paper.many import Wish
from symscale.paper.sync import Outcome, documents, sync, writer

HOOKS = Path(__file__).parent.parent / ".pre-commit-hooks.yaml"
MADE = {"claim": "\\[ x \\]", "two": "one\n\n  two", "value": "2550", "label": "x \\label{eq:x}"}
MARKS = {
    LATEX: ("% symscale: {}", "% end symscale"),
    MARKDOWN: ("<!-- symscale: {} -->", "<!-- end symscale -->"),
    HTML: ("<!-- symscale: {} -->", "<!-- end symscale -->"),
    TYPST: ("// symscale: {}", "// end symscale"),
}


def written(wish: Wish) -> str:
    """Stand in for the writer: what it writes of a request is in a table."""
    if wish.sentence not in MADE:
        raise SymscaleError(f"There is no derivation {wish.sentence!r}.", hint="Did you mean claim?")
    return MADE[wish.sentence]


def refreshed(text: str, syntax: Syntax = LATEX) -> str:
    found = document(text, syntax)
    assert not found.faults
    return found.rewritten([each.filled(MADE[each.request]) for each in found.blocks])


def without_digest(text: str) -> str:
    return re.sub(r"(end symscale) [0-9a-f]{8}", r"\1", text)


BEFORE_AFTER = [
    (LATEX, "% symscale: claim\n% end symscale\n", "% symscale: claim\n\\[ x \\]\n% end symscale\n"),
    (LATEX, "%symscale:claim\n%%  end symscale", "%symscale:claim\n\\[ x \\]\n%%  end symscale"),
    (
        LATEX,
        "a \r\n\t% symscale: two  \r\n\told\r\n\t% end symscale\t\r\nb",
        "a \r\n\t% symscale: two  \r\n\tone\r\n\r\n\t  two\r\n\t% end symscale\t\r\nb",
    ),
    (LATEX, "\ufeff% symscale: claim\n% end symscale", "\ufeff% symscale: claim\n\\[ x \\]\n% end symscale"),
    (LATEX, "% symscale: claim\r% end symscale\r", "% symscale: claim\r\\[ x \\]\r% end symscale\r"),
    (
        MARKDOWN,
        "> <!-- symscale: two -->\n> <!-- end symscale -->\n",
        "> <!-- symscale: two -->\n> one\n>\n>   two\n> <!-- end symscale -->\n",
    ),
    (
        MARKDOWN,
        "of <!-- symscale: value --><!-- end symscale --> and <!--symscale: value-->7<!--end symscale-->.",
        "of <!-- symscale: value -->2550<!-- end symscale --> and <!--symscale: value-->2550<!--end symscale-->.",
    ),
    (
        HTML,
        "<p><!-- symscale: value -->1<!-- end symscale --></p>",
        "<p><!-- symscale: value -->2550<!-- end symscale --></p>",
    ),
    (TYPST, "is /* symscale: value *//* end symscale */.", "is /* symscale: value */2550/* end symscale */."),
    (TYPST, "  // symscale: claim\n  // end symscale\n", "  // symscale: claim\n  \\[ x \\]\n  // end symscale\n"),
]


@pytest.mark.parametrize(("syntax", "before", "after"), BEFORE_AFTER)
def test_a_block_is_filled(syntax: Syntax, before: str, after: str) -> None:
    made = refreshed(before, syntax)
    assert without_digest(made) == after
    assert refreshed(made, syntax) == made
    assert not any(each.edited(made) for each in document(made, syntax).blocks)


TYPED = [
    (LATEX, "\\begin{verbatim}\n% symscale: claim\n% end symscale\n\\end{verbatim}\n"),
    (LATEX, "\\begin{lstlisting}[language=TeX]\n% symscale: claim\n\\end{lstlisting}\n"),
    (LATEX, "\\begin{minted}{tex}\n% symscale: claim\n\\end{minted}"),
    (LATEX, "\\begin{comment}\n% symscale: claim\n\\end{comment}"),
    (LATEX, "% symscale is a program\n% see symscale: the manual\n"),
    (MARKDOWN, "```md\n<!-- symscale: claim -->\n```\n"),
    (MARKDOWN, "- x\n  ~~~~\n  ~~~\n  <!-- symscale: claim -->\n  ~~~~\n"),
    (MARKDOWN, "write `<!-- symscale: claim -->` and ``<!-- end symscale -->``"),
    (MARKDOWN, "<!-- a comment\n<!-- symscale: claim\n-->"),
    (MARKDOWN, "<pre>\n<!-- symscale: claim -->\n</pre>"),
    (HTML, "<script>\n<!-- symscale: claim -->\n</SCRIPT>"),
    (HTML, "<!--\n  symscale: claim\n-->"),
    (TYPST, "```typ\n// symscale: claim\n```"),
    (TYPST, "/* /* */\n// symscale: claim\n*/"),
    (TYPST, "see https://symscale: claim // symscale: claim"),
]


@pytest.mark.parametrize(("syntax", "text"), TYPED)
def test_what_is_printed_as_it_is_typed_has_no_blocks(syntax: Syntax, text: str) -> None:
    start, end = MARKS[syntax]
    block = f"\n{start.format('claim')}\n{end}\n"
    found = document(text + block, syntax)
    assert not found.faults
    assert [each.start.number for each in found.blocks] == [(text + "\n").count("\n") + 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("text % symscale: claim\n", "behind text"),
        ("% Symscale: claim\nx\n% End Symscale\n", "almost a marker"),
        ("% symscale : claim\n", "almost a marker"),
    ],
)
def test_what_is_almost_a_marker_is_a_fault(text: str, words: str) -> None:
    found = document(text, LATEX)
    assert found.blocks == ()
    assert words in found.faults[0].message


OPENS_NOTHING = [
    (LATEX, "\\verb|\\begin{verbatim}| and \\% % \\begin{comment}\n"),
    (LATEX, "\\verb+%+ \\begin{verbatim}x\\end{verbatim} y\n"),
    (MARKDOWN, "a ` b `` c <!-- d --> ```e```\n"),
    (HTML, "<!-- a --> <script>b</script>\n"),
    (TYPST, '#let a = "/*"; `b` ``, https://c // /*\n'),
]


@pytest.mark.parametrize(("syntax", "text"), OPENS_NOTHING)
def test_what_only_looks_like_the_start_of_a_listing(syntax: Syntax, text: str) -> None:
    start, end = MARKS[syntax]
    assert len(document(f"{text}{start.format('claim')}\n{end}\n", syntax).blocks) == 1


FAULTS = [
    (LATEX, "x\n% symscale: claim\nlost\n", [(2, "has no end marker")]),
    (LATEX, "% end symscale\n", [(1, "none has begun")]),
    (LATEX, "% symscale:\n% end symscale\n", [(1, "asks for nothing"), (2, "none has begun")]),
    (
        LATEX,
        "% symscale: claim\n% symscale: value\n% end symscale\n% end symscale\n",
        [(2, "inside the one of line 1")],
    ),
    (LATEX, "% symscale: claim\n% symscale: value\n% end symscale\n", [(1, "has no end marker")]),
    (LATEX, "% symscale: claim\n% end symscale 12\n", [(1, "has no end marker"), (2, "no end marker")]),
    (LATEX, "\\begin{verbatim}\n% symscale: claim\n% end symscale\n", [(1, "swallow the marker in line 2")]),
    (MARKDOWN, "<!-- symscale: claim\n<!-- end symscale -->\n", [(1, "does not end in its line")]),
    (MARKDOWN, "a <!-- symscale: claim -->\n<!-- end symscale -->\n", [(1, "its partner in line 2")]),
    (MARKDOWN, "<!-- symscale: claim -->\nb <!-- end symscale -->\n", [(2, "its partner in line 1")]),
    (TYPST, "`\n// symscale: claim\n// end symscale\n", [(1, "no end (`)")]),
]


@pytest.mark.parametrize(("syntax", "text", "faults"), FAULTS)
def test_a_marker_without_its_partner_is_a_fault(syntax: Syntax, text: str, faults: list[tuple[int, str]]) -> None:
    found = document(text, syntax).faults
    assert [each.number for each in found] == [number for number, _ in faults]
    for each, (number, words) in zip(found, faults, strict=True):
        assert words in each.message
        shown = str(each.error("a.tex")).split("\n")
        assert shown[0].startswith(f"a.tex:{number}: ")
        assert shown[1].strip() == text.split("\n")[number - 1].strip()
        assert shown[2].strip() == "^"


PLAIN = st.text(alphabet=' \tax\\{}$%`~<>!-/*"\r\n\u2028é', max_size=60)


@given(st.lists(st.tuples(PLAIN, st.sampled_from(sorted(MADE))), max_size=4), PLAIN, st.sampled_from(list(MARKS)))
@settings(max_examples=150, deadline=None)
def test_all_outside_of_blocks_is_kept(parts: list[tuple[str, str]], last: str, syntax: Syntax) -> None:
    start, end = MARKS[syntax]
    ending = "\r\n" if "\r\n" in last else "\n"
    text = "".join(f"{plain}{ending}{start.format(name)}{ending}{end}{ending}" for plain, name in parts) + last
    found = document(text, syntax)
    if found.faults:
        return
    made = found.rewritten([each.filled(MADE[each.request]) for each in found.blocks])
    again = document(made, syntax)
    assert [each.request for each in again.blocks] == [each.request for each in found.blocks]
    assert again.rewritten([each.filled(MADE[each.request]) for each in again.blocks]) == made
    # taking out what the blocks hold gives back the document
    assert without_digest(again.rewritten(["" for _ in again.blocks])) == text


# ------------------------------------------------------------------ files

FRESH = "% symscale: claim\n% end symscale\n"


def run(*files: Path, check: bool = False, force: bool = False) -> list[Outcome]:
    return list(sync(files, written, check=check, force=force))


def paper(folder: Path, text: str = FRESH, name: str = "paper.tex") -> Path:
    file = folder / name
    file.write_bytes(text.encode())
    return file


def test_sync_then_check_is_clean(tmp_path: Path) -> None:
    file = paper(tmp_path, f"a\n{FRESH}b\n")
    (before,) = run(file, check=True)
    assert len(before.stale) == 1
    assert file.read_text() == f"a\n{FRESH}b\n"
    run(file)
    assert without_digest(file.read_text()) == "a\n% symscale: claim\n\\[ x \\]\n% end symscale\nb\n"
    stamp = file.stat().st_mtime_ns
    (after,) = run(file, check=True)
    assert not after.stale
    run(file)
    assert file.stat().st_mtime_ns == stamp


@given(st.lists(st.tuples(PLAIN, st.sampled_from(sorted(MADE)), st.booleans()), max_size=5))
@settings(max_examples=30, deadline=None)
def test_the_difference_is_what_patch_reads(parts: list[tuple[str, str, bool]]) -> None:
    if shutil.which("patch") is None:
        pytest.skip("there is no patch")
    plain = "a\nb\nc\nd\ne\n"
    text = "".join(
        f"{plain if far else ''}{before}\n% symscale: {name}\nold\n% end symscale\n" for before, name, far in parts
    ).replace("\r", "")
    old = document(text, LATEX)
    if old.faults:
        return
    new = document(refreshed(text), LATEX)
    shown = unified(old, new, "paper.tex")
    with tempfile.TemporaryDirectory() as folder:
        file = paper(Path(folder), text)
        call = ["patch", "--quiet", "--binary", str(file)]
        subprocess.run(call, input=shown.encode(), check=True, capture_output=True)
        assert file.read_bytes().decode() == new.text
    assert not unified(new, new, "paper.tex")


def test_an_edit_by_hand_is_not_lost(tmp_path: Path) -> None:
    file = paper(tmp_path)
    run(file)
    edited = file.read_text().replace("x", "my own x")
    file.write_text(edited)
    (found,) = run(file)
    assert len(found.edited) == 1
    assert file.read_text() == edited
    run(file, force=True)
    assert "my own" not in file.read_text()


def test_what_stood_there_before_is_an_edit_too(tmp_path: Path) -> None:
    text = "% symscale: claim\n\\[ y \\]\n% end symscale\n"
    file = paper(tmp_path, text)
    assert run(file)[0].edited
    assert file.read_text() == text


@pytest.mark.parametrize("change", [lambda text: text.replace("\n", "\r\n"), lambda text: text.replace("\\[", "  \\[")])
def test_white_space_is_no_edit(tmp_path: Path, change) -> None:
    file = paper(tmp_path)
    run(file)
    file.write_bytes(change(file.read_text()).encode())
    (found,) = run(file)
    assert not found.edited
    assert not run(file, check=True)[0].stale


def test_a_written_block_whose_request_changes_is_refreshed(tmp_path: Path) -> None:
    file = paper(tmp_path)
    run(file)
    file.write_text(file.read_text().replace("claim", "value"))
    (found,) = run(file)
    assert found.stale
    assert not found.edited
    assert "2550" in file.read_text()


def test_a_faulty_document_does_not_stop_the_others(tmp_path: Path) -> None:
    bad = paper(tmp_path, FRESH + "% symscale: clam on=tpu\n% end symscale\n", "bad.tex")
    good = paper(tmp_path, name="good.tex")
    first, second = run(bad, good)
    assert bad.read_text() == FRESH + "% symscale: clam on=tpu\n% end symscale\n"
    assert "\\[" in good.read_text()
    assert second.stale
    assert str(first.faults[0]) == (
        f"{bad}:3: There is no derivation 'clam on=tpu'.\n"
        "    % symscale: clam on=tpu\n                ^\nDid you mean claim?"
    )


def test_two_blocks_with_one_label(tmp_path: Path) -> None:
    one = "% symscale: label\n% end symscale\n"
    (found,) = run(paper(tmp_path, one + one))
    assert "paper.tex:3: The label eq:x is also that of the block in line 1." in str(found.faults[0])


def test_files_that_cannot_be_refreshed(tmp_path: Path) -> None:
    (tmp_path / "folder.tex").mkdir()
    (tmp_path / "circle.tex").symlink_to(tmp_path / "circle.tex")
    latin = tmp_path / "latin.tex"
    latin.write_bytes(b"a\nb\xe9\n" + FRESH.encode())
    fixed = paper(tmp_path, name="fixed.tex")
    fixed.chmod(0o444)
    table = {
        tmp_path / "none.tex": "No such file",
        tmp_path / "folder.tex": "is a folder",
        tmp_path / "circle.tex": "cannot be read",
        paper(tmp_path, name="paper.pdf"): "'.pdf' is of no kind that has blocks",
        latin: "latin.tex:2: Byte 2 of this line, 0xe9, is not UTF-8",
        fixed: "is read-only",
    }
    for file, words in table.items():
        (found,) = run(file)
        assert words in str(found.faults[0]), file
    assert fixed.read_text() == FRESH
    assert sorted(each.name for each in tmp_path.iterdir() if each.name.startswith(".")) == []


@pytest.mark.parametrize("data", [b"\xe9t\xe9\n", "été\n".encode("utf-16"), bytes(range(256)), b""])
def test_a_document_without_a_marker_is_current_in_any_encoding(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "old.tex"
    file.write_bytes(data)
    assert command("sync", file) == command("sync", "--check", file) == 0
    assert file.read_bytes() == data


def test_links_and_permissions_are_kept(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    file = paper(tmp_path / "real")
    file.chmod(0o640)
    link = tmp_path / "paper.tex"
    link.symlink_to(Path("real") / "paper.tex")
    run(link)
    assert link.is_symlink()
    assert "\\[" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_document_that_an_editor_saves_meanwhile_is_left_alone(tmp_path: Path) -> None:
    file = paper(tmp_path)

    def slow(wish: Wish) -> str:
        file.write_text("saved " + FRESH)
        return "x"

    (found,) = sync([file], slow)
    assert "was changed by another program" in str(found.faults[0])
    assert file.read_text() == "saved " + FRESH
    assert os.listdir(tmp_path) == ["paper.tex"]


def test_a_document_that_is_taken_away_meanwhile_is_an_error(tmp_path: Path) -> None:
    file = paper(tmp_path)
    (found,) = sync([file], lambda wish: file.unlink() or "x")
    assert "was taken away meanwhile" in str(found.faults[0])
    assert os.listdir(tmp_path) == []


STOPPED = {
    "while it derives": "import symscale.paper.sync as sync; sync.writer = lambda *_: hold",
    "while it writes": "import os, symscale.paper.sync as sync; sync.writer = lambda *_: str; os.replace = hold",
}


@pytest.mark.parametrize("when", STOPPED)
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_what_ends_it_leaves_nothing_half_done(tmp_path: Path, name: str, when: str) -> None:
    if os.name != "posix":
        pytest.skip("there are no such signals here")
    file = paper(tmp_path)
    code = (
        "import time\ndef hold(*_):\n    print('ready', flush=True); time.sleep(60)\n"
        f"{STOPPED[when]}\nfrom symscale.cli import main\nmain(['sync', 'paper.tex'])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(getattr(signal, name))
        _, told = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "interrupted; every file is as it was, or complete" in told
    assert "Traceback" not in told
    assert file.read_text() == FRESH
    assert os.listdir(tmp_path) == ["paper.tex"]


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    file = paper(tmp_path, "a line\n" * 9999 + FRESH)
    before = file.read_bytes()
    context = multiprocessing.get_context("fork")

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        (found,) = sync([file], lambda _: "x")
        os._exit("cannot be written: File too large" in str(found.faults[0]))

    process = context.Process(target=limited)
    process.start()
    process.join(20)
    assert process.exitcode == 1
    assert file.read_bytes() == before
    assert os.listdir(tmp_path) == ["paper.tex"]


NAMES = ["a b.tex", "a\nb.tex", "-x.tex", "--check.tex", "it's $(x);.tex", "\udcff\udcfe.tex", "ü.tex", 'a"b\\.tex']


@pytest.mark.parametrize("name", NAMES)
def test_any_name_will_do(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        file = paper(tmp_path, name=name)
    except OSError:
        pytest.skip("the file system has no such names")
    (found,) = sync([file], lambda _: "x", check=True)
    told = unified(found.old, found.new, name)
    assert len(told.splitlines()) == told.count("\n") == 7  # two lines of names, one of the place, four of text
    (found,) = sync([file], lambda _: "x")
    assert not found.faults
    assert without_digest(file.read_text()) == "% symscale: claim\nx\n% end symscale\n"


def test_a_file_given_twice_is_refreshed_once(tmp_path: Path) -> None:
    file = paper(tmp_path)
    (tmp_path / "link.tex").symlink_to("paper.tex")
    found = list(sync([file, tmp_path / "link.tex", file], lambda _: "x"))
    assert [len(each.stale) for each in found] == [1, 0, 0]
    assert (tmp_path / "link.tex").is_symlink()


def _refresh(file: Path, start: float) -> None:
    time.sleep(max(0.0, start - time.time()))
    (found,) = sync([file], lambda *_: time.sleep(0.1) or "x")
    assert not found.faults


def test_two_at_once_both_end_well(tmp_path: Path) -> None:
    file = paper(tmp_path, FRESH * 2)
    context = multiprocessing.get_context("fork" if os.name == "posix" else "spawn")
    both = [context.Process(target=_refresh, args=(file, time.time() + 0.2)) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join(20)
    assert [each.exitcode for each in both] == [0, 0]
    assert without_digest(file.read_text()) == "% symscale: claim\nx\n% end symscale\n" * 2
    assert os.listdir(tmp_path) == ["paper.tex"]


def test_a_document_held_too_long_is_an_error(tmp_path: Path) -> None:
    file = paper(tmp_path)
    with locked(file), pytest.raises(SymscaleError, match="held by another"), locked(file, patience=0.05):
        pass
    assert held.PATIENCE > 10


HOSTILE = ["`", "``` ", "<!-- symscale: a -->", "<!-- ", "\\begin{verbatim}", "\\verb|", "/*", '"', "symscale %", "\n"]


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("syntax", list(MARKS), ids=lambda each: each.dialect)
def test_long_lines_take_linear_time(syntax: Syntax, piece: str) -> None:
    def spent(length: int) -> float:
        text = piece * (length // len(piece)) + " symscale"
        start = time.process_time()
        document(text, syntax)
        return time.process_time() - start

    assert spent(400_000) < 60 * spent(20_000) + 1


# ------------------------------------------------------------------ the command


def command(*words: object) -> int:
    from symscale.cli import run

    return run([str(each) for each in words])


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = paper(tmp_path, "% symscale: training/fsdp claim\n% end symscale\n")
    assert command("sync", "--check", file) == 1
    shown = capsys.readouterr()
    assert "+\\frac{B}{X} \\ge \\frac{bC}{2W_\\text{ici}} \\quad (X \\gg 1)\n" in shown.out
    assert "1 of 1 block stale" in shown.err
    assert command("sync", file) == 0
    assert "1 of 1 block refreshed" in capsys.readouterr().out
    assert command("sync", "--check", file) == 0
    assert capsys.readouterr().out == f"{file}: 1 block, current\n"
    file.write_text(file.read_text().replace("\\ge", "\\le"))
    assert command("sync", file) == 1
    assert f"{file}:1: This block was edited by hand." in capsys.readouterr().err
    assert command("sync", "--check", file) == 1
    assert command("sync", "--force", file) == 0
    assert command("sync", tmp_path / "none.md", file) == 2


def test_documents_are_listed_in_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chapters").mkdir()
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path / "chapters")
    with pytest.raises(SymscaleError, match="There is no symscale"):
        documents([])
    files = [paper(tmp_path / "chapters", name=f"{n}.tex") for n in (1, 2)]
    (tmp_path / "symscale.toml").write_text('documents = ["chapters/*.tex", "chapters/1.tex"]\n')
    assert list(documents([])) == files
    assert list(documents([tmp_path, files[0]])) == files
    (tmp_path / "symscale.toml").write_text('documents = ["lost.tex"]\n')
    with pytest.raises(SymscaleError, match="documents: there is no file lost"):
        documents([])


def test_faults_of_the_settings_are_said_once(tmp_path: Path) -> None:
    (tmp_path / "symscale.toml").write_text("digits = 3\n")
    (found,) = run(paper(tmp_path, FRESH * 3))
    assert len(found.faults) == 1
    assert "there is no key 'digits'" in str(found.faults[0])


def test_pieces_of_several_processes_are_those_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wishes = [Wish(each, "latex", tmp_path) for each in ("training/fsdp claim", "training/dp value", "training/none")]
    one = many.granted(wishes, 1)
    monkeypatch.setattr(many, "FEW", 0)
    monkeypatch.setattr(many, "BATCH", 1)
    two = many.granted(wishes, 2)
    assert [str(two[each]) for each in wishes] == [str(one[each]) for each in wishes]


def test_a_piece_within_a_line_has_one_line(tmp_path: Path) -> None:
    file = paper(tmp_path, "a <!-- symscale: training/fsdp derivation --><!-- end symscale -->\n", "a.md")
    (found,) = sync([file], writer([file], 1))
    assert "takes several lines" in str(found.faults[0])


def test_a_figure_is_drawn_beside_its_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    block = "<!-- symscale: training/regimes figure file=regimes.svg -->\n<!-- end symscale -->\n"
    file = paper(tmp_path, block, "paper.md")
    assert command("sync", "--check", file) == 1
    assert not (tmp_path / "regimes.svg").exists()
    assert command("sync", file) == 0
    assert f"{tmp_path / 'regimes.svg'}: drawn" in capsys.readouterr().out
    assert "](regimes.svg)" in file.read_text()
    assert command("sync", "--check", file) == 0
    drawing = tmp_path / "regimes.svg"
    old = drawing.read_text().replace("<!-- ", "<!-- 0", 1)  # the digest of other data
    drawing.write_text(old)
    assert command("sync", "--check", file) == 1
    assert "regimes.svg: stale" in capsys.readouterr().err
    for somebody_elses in ("<svg/>", old + "<!-- edited -->"):
        drawing.write_text(somebody_elses)
        assert command("sync", file) == 2
        said = capsys.readouterr().err
        assert "is not as symscale drew it" in said
        assert f"{file}:1: " in said
        assert drawing.read_text() == somebody_elses


def test_a_figure_that_cannot_be_drawn_names_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    block = "<!-- symscale: training/regimes figure file=regimes.svg -->\n<!-- end symscale -->\n"
    file = paper(tmp_path, f"A figure:\n\n{block}", "paper.md")
    (found,) = sync([file], writer([file], 1))
    assert str(found.faults[0]).startswith(f"{file}:3: Drawing a figure needs matplotlib")


@pytest.mark.parametrize("label", ["x}\\write18{ls}", "a<b", "é"])
def test_a_label_is_a_name(tmp_path: Path, label: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = paper(tmp_path, f"% symscale: training/fsdp claim label={label}\n% end symscale\n")
    assert command("sync", file) == 2
    assert "is no name of a label" in capsys.readouterr().err


def test_hooks_are_commands_for_the_documents_that_have_blocks() -> None:
    yaml = pytest.importorskip("yaml")
    hooks = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    assert [each["id"] for each in hooks] == ["symscale-sync", "symscale-sync-check"]
    for each in hooks:
        assert each["language"] == "python"
        assert each["entry"].startswith("symscale sync")
        assert all(re.search(each["files"], f"paper{suffix}") for suffix in SUFFIXES)
        assert not re.search(each["files"], "paper.tex.j2")


@pytest.mark.verify
def test_pre_commit_reads_the_hooks() -> None:
    clientlib = pytest.importorskip("pre_commit.clientlib")
    assert len(clientlib.load_manifest(HOOKS)) == 2


@pytest.mark.verify
def test_a_synced_document_compiles(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("there is no pdflatex")
    blocks = "".join(
        f"Text\n% symscale: {each}\n% end symscale\nand more.\n"
        for each in (
            "training/fsdp claim label=eq:a",
            "training/fsdp value",
            "training/fsdp derivation",
            "tpus/specs table 1",
        )
    )
    head = "\\documentclass{article}\n\\usepackage{amsmath,graphicx}\n\\begin{document}\n"
    file = paper(tmp_path, f"{head}See \\eqref{{eq:a}}.\n{blocks}\\end{{document}}\n")
    assert command("sync", file) == 0
    call = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", file.name]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode("latin1")[-2000:]


@pytest.mark.verify
def test_a_synced_typst_document_compiles(tmp_path: Path) -> None:
    typst = pytest.importorskip("typst")
    inline = "/* symscale: training/fsdp value *//* end symscale */"
    text = f"= A\n// symscale: training/fsdp claim label=eq-a\n// end symscale\nIt is {inline}.\n"
    file = paper(tmp_path, text, "paper.typ")
    assert command("sync", file) == 0
    assert typst.compile(str(file))[:4] == b"%PDF"
