"""HLO text to a module: a whole one as XLA prints it, some lines of one, or one line of a profile.

%fusion.3 = bf16[32,32,4096]{2,1,0:T(8,128)(2,1)S(1)} fusion(bf16[32,32,8192]{2,1,0} %x), kind=kCustom, calls=%c
"""

from __future__ import annotations

import re

from symscale.errors import NotationError
from symscale.hlo.module import Computation, Instruction, Module, Operand
from symscale.hlo.opcodes import OPCODES
from symscale.hlo.scanner import Scanner
from symscale.machine.model import did_you_mean

MAX_LENGTH = 20_000_000
LINES = "the lines given"
_HEADER = re.compile(r"(ENTRY\s+)?%?([\w.\-]+)\s*(?:\([^\n]*\)\s*->[^\n]*?)?\{[ \t]*$", re.MULTILINE)
_TABLE = re.compile(r"(?:FileNames|FunctionNames|FileLocations|StackFrames)[ \t]*\n(?:[ \t]*\d+ [^\n]*\n?)*")
_START = re.compile(r"(ROOT\s+)?%?([\w.\-]+)\s*=\s")
_KEY = re.compile(r"([a-z][\w]*)=")
_COUNT = re.compile(r"\b(num_partitions|replica_count)=(\d{1,9})")
_OPCODE = re.compile(r"[a-z][a-z0-9\-]*")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STABLE = re.compile(r"stablehlo\.|mhlo\.|^\s*(?:func\.func|module\s+@)", re.MULTILINE)
# What stands in these brackets is a number or a literal, not operands.
_LITERAL = ("parameter", "constant", "iota", "partition-id", "replica-id", "rng-get-and-update-state")


def read_hlo(text: str) -> Module:
    """Return the module that a text writes, lines outside of computations as one of their own.

    Raises NotationError, with a caret, for what is no HLO.
    """
    if len(text) > MAX_LENGTH:
        raise NotationError(
            f"The text has {len(text):,} characters; at most {MAX_LENGTH:,} are read.", hint="Give a part of it."
        )
    if not text.strip():
        raise NotationError("There is no HLO.", hint="Give an op line of a profile, or the text of a compiled module.")
    if _STABLE.search(text[:100_000]):
        raise NotationError(
            "This is StableHLO, the input of the compiler, and not what it made.",
            hint="Print the compiled module: jax.jit(f).lower(…).compile().as_text().",
        )
    return _Reading(_COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)).module()


class _Reading:
    """The state of a reader: the computations so far, and the one it is in."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.scan = Scanner(text)
        self.name, self.entry, self.devices = "", "", 0
        self.computations: dict[str, Computation] = {}
        self.opened: tuple[str, int] | None = None
        self.lines: dict[str, Instruction] = {}
        self.loose: dict[str, Instruction] = {}

    def module(self) -> Module:
        """Read everything. Raises NotationError."""
        scan = self.scan
        scan.space()
        while scan.at < len(self.text):
            self.piece()
            scan.space()
        if self.opened is not None:
            raise scan.fail(f"The computation {self.opened[0]} is never closed.", "Add its '}'.", self.opened[1])
        if self.loose:
            self.computations[LINES] = Computation(LINES, self.loose)
            self.entry = self.entry or LINES
        if not self.computations:
            raise scan.fail(
                "This module has no computation.", "Give all of it, down to the '}' of its ENTRY.", len(self.text)
            )
        entry = self.entry or list(self.computations)[-1]
        return Module(self.name or "HLO", self.computations, entry, self.devices, self.text)

    def piece(self) -> None:
        """Read a header, a table, the start or end of a computation, or an instruction."""
        scan = self.scan
        if scan.text.startswith("HloModule", scan.at):
            self.header()
        elif scan.text.startswith("}", scan.at):
            self.close()
        elif self.opened is None and (table := _TABLE.match(self.text, scan.at)):
            scan.at = table.end()
        elif self.opened is None and (header := _HEADER.match(self.text, scan.at)) and "=" not in header[2]:
            if _START.match(self.text, scan.at):
                self.add(self.instruction())
                return
            self.opened, self.lines, scan.at = (header[2], scan.at), {}, header.end()
            self.entry = header[2] if header[1] else self.entry
        else:
            self.add(self.instruction())

    def header(self) -> None:
        """Read `HloModule name, num_partitions=8, …`."""
        end = self.text.find("\n", self.scan.at)
        end = len(self.text) if end < 0 else end
        line = self.text[self.scan.at : end]
        self.name = line.removeprefix("HloModule").split(",")[0].strip()
        counts = {key: int(number) for key, number in _COUNT.findall(line)}
        if counts:
            self.devices = counts.get("num_partitions", 1) * counts.get("replica_count", 1)
        self.scan.at = end

    def close(self) -> None:
        """Read the end of a computation."""
        scan = self.scan
        if self.opened is None:
            raise scan.fail("'}' closes no computation.", "Remove it, or give the computation's first line too.")
        name, start = self.opened
        if not self.lines:
            raise scan.fail(f"The computation {name} has no instruction.", "Give its lines.", start)
        self.computations[name] = Computation(name, self.lines)
        self.opened = None
        end = self.text.find("\n", scan.at)  # `}, execution_thread="…"`
        scan.at = len(self.text) if end < 0 else end

    def add(self, made: Instruction) -> None:
        """Put an instruction into the computation that is open. Raises NotationError where its name is taken."""
        into = self.lines if self.opened is not None else self.loose
        if made.name in into:
            raise self.scan.fail(f"{made.name[:60]} is made twice.", "Names are unique in a computation.", made.at)
        into[made.name] = made

    def instruction(self) -> Instruction:
        """Read `%name = shape op(operands), key=value, …`. Raises NotationError."""
        scan, start = self.scan, self.scan.at
        found = _START.match(self.text, start)
        if found is None:
            raise scan.fail(
                f"This is no line of HLO: {scan.next!r}.",
                "A line reads: %name = bf16[8,128]{1,0} dot(%x, %W), lhs_contracting_dims={1}, ….",
            )
        scan.at = found.end()
        shape = scan.shape()
        op = self.opcode()
        scan.need("(", op)
        opening = scan.at - 1
        closing = scan.closing(opening)
        inside = self.text[opening + 1 : closing]
        operands = () if op in _LITERAL else self.operands(closing)
        scan.at = closing + 1
        attributes, places = self.attributes()
        return Instruction(found[2], shape, op, operands, attributes, inside, start, places, bool(found[1]))

    def opcode(self) -> str:
        """Read the operation. Raises NotationError for one that XLA does not have."""
        scan = self.scan
        scan.space()
        found = _OPCODE.match(self.text, scan.at)
        if found is None:
            raise scan.fail(
                f"An operation was expected after the shape, and {scan.next!r} was found.", "As in dot(%x, %y)."
            )
        known = found[0] in OPCODES or found[0].removesuffix("-start").removesuffix("-done") in OPCODES
        if not known:
            raise scan.fail(
                f"Unknown operation {found[0][:40]!r}.",
                f"Known are dot, fusion, all-gather and the others of XLA.{did_you_mean(found[0], OPCODES)}",
            )
        scan.at = found.end()
        return found[0]

    def operands(self, closing: int) -> tuple[Operand, ...]:
        """Read `bf16[8,128]{1,0} %x, %y` up to the closing bracket. Raises NotationError."""
        scan, found = self.scan, list[Operand]()
        scan.space()
        while scan.at < closing:
            at, shape = scan.at, None
            if self.text[at] == "(" or re.compile(r"[a-z]\w*\[").match(self.text, at):
                shape = scan.shape()
                scan.space()
            # A profile may leave the names out: dot(bf16[8,128], bf16[128,64]).
            named = shape is None or self.text[scan.at] not in ",)"
            name = scan.name("The name of an operand") if named else f"operand {len(found) + 1}"
            found.append(Operand(name, shape, at))
            scan.space()
            if scan.at < closing:
                scan.need(",", f"the operand {name[:40]}")
                scan.space()
        return tuple(found)

    def attributes(self) -> tuple[dict[str, str], dict[str, int]]:
        """Read `, key=value, …`, each value up to the comma outside its brackets. Raises NotationError."""
        scan = self.scan
        values: dict[str, str] = {}
        places: dict[str, int] = {}
        while self.comma():
            scan.space()
            key = _KEY.match(self.text, scan.at)
            if key is None:
                raise scan.fail(f"An attribute was expected, and {scan.next!r} was found.", "They read key=value.")
            scan.at = key.end()
            places[key[1]] = scan.at
            values[key[1]] = self.value()
        return values, places

    def comma(self) -> bool:
        """Read a comma on the same line: the next line is another instruction."""
        found = re.compile(r"[ \t]*,").match(self.text, self.scan.at)
        if found is None:
            rest = re.compile(r"[ \t]*([^\s,/][^\n]*)").match(self.text, self.scan.at)
            if rest and not rest[1].startswith("}"):
                raise self.scan.fail(
                    f"{rest[1][:20]!r} follows the instruction.", "Attributes stand behind commas.", rest.start(1)
                )
            return False
        self.scan.at = found.end()
        return True

    def value(self) -> str:
        """Read a value: words, and brackets with what is inside. Raises NotationError."""
        scan, start = self.scan, self.scan.at
        stop = re.compile(r'[(\[{",\n)\]}]')
        while True:
            found = stop.search(self.text, scan.at)
            if found is None:
                scan.at = len(self.text)
            elif found[0] == '"':
                scan.at = scan.quoted(found.start())
                continue
            elif found[0] in "([{":
                scan.at = scan.closing(found.start()) + 1
                continue
            elif found[0] in ")]}":
                raise scan.fail(f"{found[0]!r} closes nothing.", "Remove it.", found.start())
            else:
                scan.at = found.start()
            return self.text[start : scan.at].strip()
