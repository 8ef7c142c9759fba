"""Files that somebody else has written: every command says what it was given instead of UTF-8 text."""

from __future__ import annotations

import codecs
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from symscale.cli import run
from symscale.errors import SymscaleError
from symscale.textfile import decoded, read_text

TEXT = "Ein Text aus Wörtern, der lang genug ist.\n% symscale: training/fsdp claim\n% end symscale\n"

# what a file holds, what is said of it, what its hint has
FOREIGN = {
    "UTF-16 LE": (codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"), "is UTF-16 text", "iconv -f utf-16 "),
    "UTF-16 BE": (codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), "is UTF-16 text", "iconv -f utf-16 "),
    "UTF-16 LE, no mark": (TEXT.encode("utf-16-le"), "is UTF-16LE text", "iconv -f utf-16le "),
    "UTF-16 BE, no mark": (TEXT.encode("utf-16-be"), "is UTF-16BE text", "iconv -f utf-16be "),
    "UTF-32 LE": (codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"), "is UTF-32 text", "iconv -f utf-32 "),
    "UTF-32 BE": (codecs.BOM_UTF32_BE + TEXT.encode("utf-32-be"), "is UTF-32 text", "iconv -f utf-32 "),
    "latin1": (TEXT.encode("latin1"), ":1: Byte 15 of this line, 0xf6, is not UTF-8", "iconv -f latin1 "),
    "cp1252": ("a\n“Text”\n".encode("cp1252"), ":2: Byte 1 of this line, 0x93, is not UTF-8", "iconv -f cp1252 "),
    "PDF": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "is a PDF", "text file"),
    "docx": (b"PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00!\x00", "is a ZIP archive", "text file"),
    "PNG": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "is an image", "text file"),
    "binary": (bytes(range(32)) * 20 + b"symscale", "is binary", "text file"),
    "zeros": (bytes(5000), "is binary", "text file"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_no_utf_8_is_named(name: str) -> None:
    data, said, hint = FOREIGN[name]
    with pytest.raises(SymscaleError) as caught:
        decoded(data, Path("paper.tex"))
    assert f"paper.tex{said}" in str(caught.value) or f"paper.tex {said}" in str(caught.value)
    assert hint in caught.value.hint
    # what iconv is told leads to the text
    if "iconv" in hint and "Wörter" in TEXT and name.startswith(("UTF", "latin")):
        assert data.decode(hint.split()[2]).removeprefix("\ufeff") == TEXT


@pytest.mark.parametrize(
    "data",
    [b"", b"a", b"ab\n", "é".encode(), "日本語".encode(), b"a\x00b and more than that\n", b"\x1b[1mbold\n", b"a\fb"],
)
def test_text_is_text(data: bytes) -> None:
    assert decoded(data, "x").encode() == data


def test_a_mark_is_kept_by_documents_and_read_over_by_settings(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(codecs.BOM_UTF8 + b"a = 1\n")
    assert decoded(codecs.BOM_UTF8 + b"a", "x") == "\ufeffa"
    assert read_text(tmp_path / "a.toml") == "a = 1\n"


def at(path: str, *words: str) -> Callable[[Path, bytes], tuple[str, ...]]:
    """Return what puts bytes into a file of a folder, and gives the command that reads it."""

    def put(folder: Path, data: bytes) -> tuple[str, ...]:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return words

    return put


# commands, each with a file of a user's
READ = {
    "sync": at("a.tex", "sync", "a.tex"),
    "sync --check": at("a.md", "sync", "--check", "a.md"),
    "audit": at("a.tex", "audit", "a.tex"),
    "audit of a notebook": at("a.ipynb", "audit", "a.ipynb"),
    "render": at("a.tex.j2", "render", "a.tex.j2"),
    "check --file": at("a.toml", "check", "--file", "a.toml"),
    "machine file": at("a.toml", "derive", "x[B, D] * W[D, F_X] -> y[B, F_X]", "--machine", "a.toml"),
    "model": at("config.json", "model", "config.json"),
    "hlo": at("a.txt", "hlo", "a.txt"),
    "settings": at("symscale.toml", "show", "training/fsdp", "claim"),
}


@pytest.mark.parametrize("command", READ)
@pytest.mark.parametrize("name", ["UTF-16 LE", "UTF-32 BE", "latin1", "binary"])
def test_every_command_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    data, said, hint = FOREIGN[name]
    assert run(READ[command](tmp_path, data)) == 2
    told = capsys.readouterr()
    shown = told.out + told.err
    assert said in shown, shown
    assert hint in shown
    assert "Traceback" not in shown


def test_a_derivation_and_a_bibliography_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "symscale.toml").write_text('derivations = ["own"]', encoding="utf-8")
    (tmp_path / "own").mkdir()
    for file in ("own/a.py", "own/references.bib"):
        (tmp_path / file).write_bytes(FOREIGN["UTF-16 LE"][0])
        assert run(("show", "training/fsdp", "claim") if file.endswith("py") else ("bib", "training/fsdp")) == 2
        assert f"{file} is UTF-16 text" in capsys.readouterr().err
        (tmp_path / file).unlink()


def test_what_has_no_end_is_not_read_to_it(tmp_path: Path) -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("there is no /dev/zero here")
    with pytest.raises(SymscaleError, match="longer than 1 MB"):
        read_text(Path("/dev/zero"))


def test_a_pipe_is_read(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("there are no pipes here")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"a = 1",))
    writer.start()
    assert read_text(pipe) == "a = 1"
    writer.join()
