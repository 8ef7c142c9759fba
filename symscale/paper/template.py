r"""Templates of documents: jinja2 in a sandbox, with delimiters that do not fight the document's own language.

LaTeX has `\VAR{…}`, `\BLOCK{…}`, `\#{…}` and lines that begin with `%% `; Markdown and HTML have jinja's own; Typst has
`{{ … }}`, `{% … %}`, `{* … *}` and lines that begin with `//% `, since # is Typst's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from symscale.errors import SymscaleError
from symscale.paper.held import read
from symscale.paper.language import Dialect
from symscale.paper.objects import Derived, Piece

if TYPE_CHECKING:
    from jinja2 import BaseLoader
    from jinja2.sandbox import SandboxedEnvironment

JINJA = {
    "block_start_string": "{%",
    "block_end_string": "%}",
    "variable_start_string": "{{",
    "variable_end_string": "}}",
    "comment_start_string": "{#",
    "comment_end_string": "#}",
}
LATEX = {
    "block_start_string": r"\BLOCK{",
    "block_end_string": "}",
    "variable_start_string": r"\VAR{",
    "variable_end_string": "}",
    "comment_start_string": r"\#{",
    "comment_end_string": "}",
    "line_statement_prefix": "%% ",
}
TYPST = JINJA | {"comment_start_string": "{*", "comment_end_string": "*}", "line_statement_prefix": "//% "}
DELIMITERS: dict[str, dict[str, str]] = {"latex": LATEX, "typst": TYPST}

MOST_BYTES = 5_000_000
MOST_ROUNDS = 100_000
MOST_LETTERS = 5_000_000
MOST_BITS = 4096
MOST_DIGITS = 300


def delimiters(dialect: Dialect) -> dict[str, str]:
    """Return how templates of a language mark what is filled in."""
    return DELIMITERS.get(dialect.name, JINJA)


def environment(dialect: Dialect, folder: Path, names: dict[str, Any], seen: set[Path]) -> SandboxedEnvironment:
    """Return the sandbox of a document's templates, which includes files of its own folder only.

    What it reads is added to `seen`.
    """
    from jinja2 import StrictUndefined
    from jinja2.exceptions import SecurityError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Hole(StrictUndefined):
        """What is not there, inside a list too: nothing is printed in its place."""

        __slots__ = ()
        __repr__ = StrictUndefined.__str__

    class Sandbox(ImmutableSandboxedEnvironment):
        intercepted_binops = frozenset(("*", "**", "+", "//", "%"))

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            bounded(operator, left, right)
            return super().call_binop(context, operator, left, right)

        def getattr(self, obj: Any, attribute: str) -> Any:
            found = super().getattr(obj, attribute)
            if isinstance(found, StrictUndefined) and isinstance(obj, Piece | Derived) and attribute[:1] != "_":
                raise obj._missing(attribute)
            return found

        def unsafe_undefined(self, obj: Any, attribute: str) -> Any:
            # not only where it is used: a list of what may not be read is printed as well
            if isinstance(obj, Hole):
                return obj
            what = f"access to attribute {str(attribute)[:40]!r} of {type(obj).__name__!r} object is unsafe"
            raise SecurityError(what)

    marks = delimiters(dialect)
    found = Sandbox(
        loader=_loader(folder, seen, marks),
        undefined=Hole,
        finalize=lambda value: value if isinstance(value, Hole | Piece) else printed(value),
        autoescape=dialect.name == "html",
        keep_trailing_newline=True,
        cache_size=50,
        **marks,
    )
    found.globals = {"range": rounds, "dict": table, "namespace": found.globals["namespace"], **names}
    found.policies["json.dumps_kwargs"] = {"sort_keys": True, "default": str}
    return found


def _loader(folder: Path, seen: set[Path], marks: dict[str, str]) -> BaseLoader:
    from jinja2 import FileSystemLoader, TemplateNotFound

    root = folder.resolve()

    class Beside(FileSystemLoader):
        def get_source(self, environment: Any, template: str) -> tuple[str, str, Callable[[], bool]]:
            try:
                file = (root / template).resolve()
            except (OSError, ValueError, RuntimeError) as error:  # a link that leads to itself
                raise TemplateNotFound(template) from error
            if not file.is_relative_to(root):
                hint = "Templates include files of their own folder."
                raise SymscaleError(f"{template[:60]!r} is outside of the document's folder.", hint=hint)
            if not file.is_file():
                raise TemplateNotFound(template)
            seen.add(file)
            return without_own_lines(source(file), marks), str(file), lambda: True

    return Beside(root)


def source(file: Path) -> str:
    """Return the text of a template. Raises SymscaleError for one that is no UTF-8 text, or that is too long."""
    return read(file, MOST_BYTES)[1]


def without_own_lines(text: str, marks: dict[str, str]) -> str:
    """Return a template in which statements and comments that stand alone on a line leave no empty one.

    Every line keeps its number: it becomes a line statement, or else its end moves into the statement.
    """
    if re.search(rf"{re.escape(marks['block_start_string'])}[-+]?\s*raw\b", text):
        return text  # what stands as it is may look like a statement
    prefix = marks.get("line_statement_prefix", "")
    for kind in ("block", "comment"):
        start, end = marks[f"{kind}_start_string"], marks[f"{kind}_end_string"]
        opens, closes = re.escape(start), re.escape(end)
        alone = rf"^[ \t]*{opens}[-+]?((?:(?!{opens}|{closes})[^\r\n])*?)[-+]?{closes}[ \t]*(\r?\n)"
        inside = r"\1" if kind == "block" else "set _ = 0"
        shown = rf"{prefix}{inside}\2" if prefix else rf"{start}\1\2{end}"
        text = re.sub(alone, shown, text, flags=re.MULTILINE)
    return text


def rounds(*limits: int) -> range:
    """Return a range of at most 100,000 numbers. Raises SymscaleError."""
    found = range(*limits)
    try:
        many = len(found) > MOST_ROUNDS
    except OverflowError:
        many = True
    if many:
        raise SymscaleError("A loop over so many numbers has no end in sight.", hint=f"At most {MOST_ROUNDS:,}.")
    return found


def table(*pairs: Any, **more: Any) -> dict[Any, Any]:
    """Return a dictionary, as Python's `dict` does."""
    return dict(*pairs, **more)


def printed(value: Any) -> Any:
    """Return what is printed. Raises SymscaleError for a function, or what is to be run through: neither is text."""
    if not callable(value) and not isinstance(value, Iterator):
        return value
    what = "a function" if callable(value) else "a sequence that nothing has run through yet"
    raise SymscaleError(f"What is printed here is {what}.", hint="Call it: f(); or join its parts: |join(', ').")


def rounded(value: float, precision: int = 0, method: Literal["common", "ceil", "floor"] = "common") -> float:
    """Return jinja's `round` of a number, to digits that a number has. Raises SymscaleError."""
    from jinja2.filters import do_round

    if abs(precision) > MOST_DIGITS:
        raise SymscaleError(f"No number has {precision} digits.", hint=f"Round to at most {MOST_DIGITS}.")
    return do_round(value, precision, method)


def bounded(operator: str, left: Any, right: Any) -> None:
    """Raise SymscaleError where a product, power or sum would be too large to be meant."""
    if operator == "**":
        whole = isinstance(left, int) and isinstance(right, int)
        if whole and abs(left) > 1 and left.bit_length() * right > MOST_BITS:
            raise SymscaleError("A power of more than a thousand digits is not meant.", hint="Write a float: 10.0**30.")
        return
    sizes = [len(each) if isinstance(each, str | list | tuple | bytes) else None for each in (left, right)]
    if operator == "*":
        for size, times in ((sizes[0], right), (sizes[1], left)):
            if size is not None and isinstance(times, int) and size * times > MOST_LETTERS:
                raise SymscaleError("A text repeated so often is longer than a document.", hint="Repeat it less often.")
    if operator in ("*", "//", "%"):
        if all(isinstance(each, int) and each.bit_length() > MOST_BITS for each in (left, right)):
            raise SymscaleError("A product or ratio of so many digits is not meant.", hint="Write floats.")
    elif None not in sizes and sum(size or 0 for size in sizes) > MOST_LETTERS:
        raise SymscaleError("A text of so many letters is longer than a document.", hint="Make it shorter.")
