"""Blocks of a document: what stands between the markers `symscale: …` and `end symscale`. Pure: text in, text out.

An end marker carries a digest of what was written between the two, so that an edit by hand is seen before it would be
lost. White space around lines and the kind of line ending are no edit: other tools change them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from symscale.frozen import dataclass
from symscale.paper.comments import Syntax
from symscale.paper.markers import DIGITS, Fault, Marker, markers


@dataclass(frozen=True)
class Block:
    """A pair of markers, and where in the text stands what was written for the first."""

    start: Marker
    end: Marker
    span: tuple[int, int]

    @property
    def request(self) -> str:
        """What is asked for, as it is written."""
        return self.start.request or ""

    def content(self, text: str) -> str:
        """Return what stands between the markers."""
        return text[slice(*self.span)]

    def filled(self, written: str) -> str:
        """Return a text as it is put between the markers: indented as they are, with the line endings they have."""
        if not self.start.alone:
            return written.strip()
        lines = written.strip().split("\n")
        return "".join((self.start.prefix + line).rstrip() + self.start.ending for line in lines)

    def edited(self, text: str) -> bool:
        """Return whether something stands between the markers that symscale has not written."""
        lines = _lines(self.content(text), self.start.prefix)
        return any(lines) and _digest(lines) != self.end.digest


@dataclass(frozen=True)
class Document:
    """The blocks of a document in their order, and what is wrong with its markers: then nothing can be written."""

    text: str
    blocks: tuple[Block, ...]
    faults: tuple[Fault, ...]

    def rewritten(self, contents: Sequence[str]) -> str:
        """Return the text with these contents of its blocks, and their digests; everything else is as it was."""
        pieces, at = [], 0
        for block, content in zip(self.blocks, contents, strict=True):
            first, last = (block.end.offset + each for each in block.end.slot)
            mark = _digest(_lines(content, block.start.prefix))
            pieces += [self.text[at : block.span[0]], content, self.text[block.span[1] : first], f" {mark}"]
            at = last
        return "".join([*pieces, self.text[at:]])


def document(text: str, syntax: Syntax) -> Document:
    """Return the blocks of a text, and every fault of its markers with its line."""
    if "symscale" not in text.lower():
        return Document(text, (), ())
    found, faults = markers(text, syntax)
    blocks, unpaired = _paired(found, syntax)
    return Document(text, tuple(blocks), tuple(sorted(faults + unpaired, key=lambda each: each.number)))


def _lines(content: str, prefix: str) -> list[str]:
    mark = prefix.strip()
    return [line.strip().removeprefix(mark).strip() for line in content.splitlines()]


def _digest(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(lines).strip().encode()).hexdigest()[:DIGITS]


def _paired(found: Sequence[Marker], syntax: Syntax) -> tuple[list[Block], list[Fault]]:
    """Return the blocks that markers make, and a fault for each marker that has no partner, or is inside a block."""
    blocks: list[Block] = []
    faults: list[Fault] = []
    open_: list[Marker] = []
    inside: list[Fault] = []
    for marker in found:
        if marker.request is not None:
            if open_:
                message = f"A block begins inside the one of line {open_[0].number}."
                inside.append(_fault(marker, message, f"End that one first, with `{syntax.end}`."))
            open_.append(marker)
            continue
        if not open_:
            faults.append(_fault(marker, "No block ends here: none has begun.", f"A block begins `{syntax.start}`."))
            continue
        start = open_.pop()
        if open_:
            continue
        faults += inside
        inside = []
        block = _between(start, marker)
        if isinstance(block, Block):
            blocks.append(block)
        else:
            faults.append(block)
    # what is inside a block that never ends is inside only because of that
    faults += [_fault(each, "This block has no end marker.", f"End it with `{syntax.end}`.") for each in open_]
    return blocks, faults


def _between(start: Marker, end: Marker) -> Block | Fault:
    """Return the block between two markers that stand in lines of their own, or both in one."""
    if start.alone and end.alone:
        return Block(start, end, (start.offset + len(start.line), end.offset))
    if start.number == end.number and not start.alone:
        return Block(start, end, (start.offset + start.stop, end.offset + end.start))
    lost = end if start.alone else start
    message = f"This marker stands beside other text, and its partner in line {(start if lost is end else end).number}."
    return _fault(lost, message, "Give both markers lines of their own, or put both in one line.")


def _fault(marker: Marker, message: str, hint: str) -> Fault:
    return Fault(marker.number, marker.line, marker.start, message, hint)
