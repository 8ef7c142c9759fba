"""Examples of the docs that are run: terminals, Python sessions, and the files that they use.

    python tests/console.py docs/tutorial.md …     writes what the commands print now into a page

A page is a story: its blocks run from top to bottom in one folder.

- A block with a title (```` ```toml title="chip.toml" ````) is a file, unless it is a terminal.
- ```` ```console ```` has commands behind `$` (`>` goes on with one) and what they print; a line `…` stands for any.
- ```` ```pycon ```` is a doctest.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import runpy
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

BLOCK = re.compile(
    r"^(?P<indent> *)(?P<fence>```+)(?P<language>\w+)(?P<options>[^\n]*)\n(?P<body>.*?)^(?P=indent)(?P=fence)$",
    re.M | re.S,
)
TITLE = re.compile(r'title="([^"]+)"')
ANYTHING = "…"


class Console:
    """A terminal that runs the few commands which pages show, in this process; `code` is the exit code of the last."""

    def __init__(self) -> None:
        self.code = 0

    def run(self, line: str) -> str:
        """Return what a command line prints, standard error included."""
        command, *filters = (shlex.split(part) for part in re.split(r" \| (?=tail |head )", line))
        name, *arguments = command
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            self.code = COMMANDS[name](self, arguments)
        lines = printed.getvalue().replace(f"{Path.cwd()}{os.sep}", "").splitlines()
        for program, _, number in filters:
            lines = lines[: int(number)] if program == "head" else lines[-int(number) :]
        return "".join(f"{each.rstrip()}\n" for each in lines)

    def symscale(self, arguments: Sequence[str]) -> int:
        from symscale.cli import run
        from symscale.derivation import registry

        registry._registry.clear()  # a page writes files between its commands
        registry._forget()
        return run(list(arguments))

    def python(self, arguments: Sequence[str]) -> int:
        runpy.run_path(arguments[0], run_name="__main__")
        return 0

    def export(self, arguments: Sequence[str]) -> int:
        for each in arguments:
            name, _, value = each.partition("=")
            os.environ[name] = value
        return 0

    def cat(self, arguments: Sequence[str]) -> int:
        for each in arguments:
            print(Path(each).read_text(encoding="utf-8").rstrip())
        return 0

    def mkdir(self, arguments: Sequence[str]) -> int:
        for each in arguments:
            Path(each).mkdir()
        return 0

    def cp(self, arguments: Sequence[str]) -> int:
        Path(arguments[1]).write_bytes(Path(arguments[0]).read_bytes())
        return 0

    def ls(self, arguments: Sequence[str]) -> int:
        print("  ".join(sorted(each.name for each in Path(*arguments).iterdir() if each.name[0] not in "._")))
        return 0

    def head(self, arguments: Sequence[str]) -> int:
        _, number, path = arguments
        print(*Path(path).read_text(encoding="utf-8").splitlines()[: int(number)], sep="\n")
        return 0

    def tail(self, arguments: Sequence[str]) -> int:
        _, number, path = arguments
        print(*Path(path).read_text(encoding="utf-8").splitlines()[-int(number) :], sep="\n")
        return 0

    def echo(self, arguments: Sequence[str]) -> int:
        print(*(str(self.code) if each == "$?" else each for each in arguments))
        return 0


COMMANDS: dict[str, Callable[[Console, Sequence[str]], int]] = {
    name: function for name, function in vars(Console).items() if not name.startswith("_") and name != "run"
}


def told(text: str) -> str:
    """Return a page as its examples run now, in the current folder: the same text if nothing has changed."""
    console, names = Console(), {}  # type: ignore[var-annotated]

    def block(found: re.Match[str]) -> str:
        indent, body = found["indent"], found["body"]
        flat = "".join(line.removeprefix(indent) for line in body.splitlines(keepends=True))
        title = TITLE.search(found["options"])
        if title and found["language"] != "console":
            path = Path(title[1])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(flat, encoding="utf-8")
        elif found["language"] == "console":
            flat = "".join(told_command(console, *each) for each in commands(flat))
        elif found["language"] == "pycon":
            flat = told_python(flat, names)
        body = "".join(f"{indent if line.strip() else ''}{line}" for line in flat.splitlines(keepends=True))
        fence = found["fence"]
        return f"{indent}{fence}{found['language']}{found['options']}\n{body}{indent}{fence}"

    return BLOCK.sub(block, text)


def commands(block: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the lines of each command of a block and the lines it is said to print."""
    typed: list[str] = []
    printed: list[str] = []
    for line in block.splitlines():
        if line.startswith("$ ") and typed:
            yield typed, printed
            typed, printed = [], []
        if line.startswith("$ ") or (line.startswith("> ") and not printed and typed[-1].endswith("\\")):
            typed.append(line)
        else:
            printed.append(line)
    if typed:
        yield typed, printed


def told_command(console: Console, typed: list[str], printed: list[str]) -> str:
    now = console.run(" ".join(line[2:].removesuffix("\\").strip() for line in typed)).splitlines()
    shown = printed if matches(printed, now) else now
    return "".join(f"{line}\n" for line in (*typed, *shown))


def matches(shown: list[str], printed: list[str]) -> bool:
    """Return whether a page shows what is printed; `…` stands for any lines, blank lines at the end do not count."""
    pattern = "".join("(?:.*\n)*?" if line.strip() == ANYTHING else re.escape(line) + "\n" for line in shown)
    text = "".join(f"{line}\n" for line in printed)
    return re.fullmatch(pattern + "\n*", text) is not None or (not printed and not shown)


def told_python(block: str, names: dict[str, object]) -> str:
    """Return a Python session with what its lines print now."""
    parser, runner = doctest.DocTestParser(), Session()
    test = parser.get_doctest(block, names, "page", None, 0)
    runner.run(test, out=lambda text: None, clear_globs=False)
    names.update(test.globs)
    parts = parser.parse(block)
    return "".join(
        part if isinstance(part, str) else typed(part) + runner.printed.get(part.lineno, part.want) for part in parts
    )


class Session(doctest.DocTestRunner):
    """A doctest that keeps what is printed where that differs, by line."""

    def __init__(self) -> None:
        super().__init__(verbose=False, optionflags=doctest.ELLIPSIS)
        self.printed: dict[int, str] = {}

    def report_failure(self, out: object, test: object, example: doctest.Example, got: str) -> None:
        self.printed[example.lineno] = re.sub(r"(?m)^$(?=\n)", "<BLANKLINE>", got)

    def report_unexpected_exception(self, out: object, test: object, example: doctest.Example, error: object) -> None:
        _, value, _ = error  # type: ignore[misc]
        raise value


def typed(example: doctest.Example) -> str:
    """Return the lines of an example behind their prompts."""
    first, *others = example.source.rstrip("\n").split("\n")
    return f">>> {first}\n" + "".join(f"... {line}".rstrip() + "\n" for line in others)


def main(paths: Sequence[str]) -> None:
    for path in map(Path, paths):
        text = path.read_text(encoding="utf-8")
        where = path.resolve()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            where.write_text(told(text), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
