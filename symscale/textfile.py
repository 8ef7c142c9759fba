"""A text file that somebody else has written: what it says, or an error that names what it is instead of UTF-8 text."""

from __future__ import annotations

import codecs
from pathlib import Path

from symscale.errors import SymscaleError

BOM = "\ufeff"
#: More than a file of settings, a chip or a sheet of answers ever has.
LARGEST = 1_000_000

# A mark of UTF-32 begins like one of UTF-16: it is looked for first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_KINDS = (
    (b"%PDF-", "a PDF"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"PK\x03\x04", "a ZIP archive, as .docx and .odt files are"),
    (b"\x1f\x8b", "compressed"),
    (b"\xd0\xcf\x11\xe0", "a document of an office program"),
)
_HEAD = 4096
# Bytes that no text in an encoding of one byte has: control characters other than tabs and ends of lines and pages.
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b")) + b"\x7f"


def read_text(
    file: Path,
    *,
    most: int = LARGEST,
    hint: str = "Give a file that is there and that you may read.",
    error: type[SymscaleError] = SymscaleError,
) -> str:
    """Return what a file says, without a byte order mark; pipes are read like files, and never without end.

    Raises `error` if it cannot be read, has more than `most` bytes, or is not UTF-8.
    """
    return decoded(read_bytes(file, most=most, hint=hint, error=error), file, error=error).removeprefix(BOM)


def read_bytes(file: Path, *, most: int = LARGEST, hint: str = "", error: type[SymscaleError] = SymscaleError) -> bytes:
    """Return what a file holds. Raises `error` if it cannot be read or has more than `most` bytes."""
    try:
        with open(file, "rb") as opened:
            data = opened.read(most + 1)
    except (OSError, ValueError) as why:
        reason = getattr(why, "strerror", None) or str(why)
        raise error(f"{file} cannot be read: {reason}.", hint=hint) from why
    if len(data) > most:
        raise error(f"{file} is longer than {size(most)}.", hint=hint)
    return data


def size(most: int) -> str:
    """Return a number of bytes in words."""
    return f"{most / 10**6:g} MB"


def decoded(data: bytes, file: Path | str, *, error: type[SymscaleError] = SymscaleError) -> str:
    """Return the text of a file's bytes, its byte order mark included.

    Raises `error` naming the encoding or the kind of file it is, or the first byte that is not UTF-8.
    """
    other = _encoding(data)
    if other:
        raise error(f"{file} is {other} text, not UTF-8.", hint=_saved(other.lower()))
    kind = next((kind for mark, kind in _KINDS if data.startswith(mark)), "")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as why:
        if kind or _binary(data):
            raise _no_text(file, kind, error) from why
        raise _one_byte(data, file, why.start, error) from why
    if kind or _binary(data):
        raise _no_text(file, kind, error)
    return text


def _encoding(data: bytes) -> str:
    """Return the encoding of several bytes a letter that a text has, "" for none of these."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    # without a mark: letters of European languages have zeros at every second place
    head = data[:_HEAD]
    for first, name in ((1, "UTF-16LE"), (0, "UTF-16BE")):
        zeros, others = head[first::2], head[1 - first :: 2]
        if len(head) > 3 and zeros.count(0) > 0.6 * len(zeros) and others.count(0) < 0.1 * len(others):
            return name
    return ""


def _binary(data: bytes) -> bool:
    """Say whether a file is no text: one of its first letters in ten is a control character. A stray zero is none."""
    head = data[:_HEAD]
    return 10 * (len(head) - len(head.translate(None, _CONTROL))) > len(head)


def _no_text(file: Path | str, kind: str, error: type[SymscaleError]) -> SymscaleError:
    return error(f"{file} is {kind or 'binary'}, not UTF-8 text.", hint="Give a text file.")


def _one_byte(data: bytes, file: Path | str, at: int, error: type[SymscaleError]) -> SymscaleError:
    """Return what is said of a byte that is not UTF-8."""
    line = data.count(b"\n", 0, at) + 1
    column = at - (data.rfind(b"\n", 0, at) + 1) + 1
    # between 0x80 and 0x9f Latin 1 has nothing that is printed, and Windows its quotation marks and dashes
    name = "cp1252" if any(each in data for each in range(0x80, 0xA0)) else "latin1"
    what = f"{file}:{line}: Byte {column} of this line, 0x{data[at]:02x}, is not UTF-8."
    return error(what, hint=f"It may be {name}. {_saved(name)}")


def _saved(name: str) -> str:
    return f"Save it as UTF-8: iconv -f {name} -t utf-8 OLD > NEW."
