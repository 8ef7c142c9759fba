"""The floor plan and the house rules that a parser of the source can decide."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "symscale"

# Top to bottom; an import may only run downward, or stay on its floor.
FLOORS = (
    "__main__",
    "cli",
    "__init__",  # the public names; nothing below the command line may reach up to them
    "notebook",
    "paper",
    "page",
    "report",
    "exercise",
    "derivation",
    "transformer",
    "solve",
    "hlo",
    "cost",
    "collectives",
    "machine",
    "partition",
    "notation",
    "array",  # the values that notation reads programs into
    "quantity",
    "vocabulary",
    "textfile",
    "errors",
    "frozen",
    "shown",  # what lets a result show itself
)
# Results print themselves (`print(d)`, Jupyter), and the package hands its commands to IPython (`%load_ext symscale`),
# through a floor above, which they ask for only then.
ASK_ABOVE = {"symscale/shown.py": "shown -> notebook", "symscale/__init__.py": "__init__ -> cli"}
MAX_LINES = 450
MAKES_SYMBOLS = {"Symbol", "Dummy", "symbols"}
BUILTINS = {"eval", "exec", "compile", "__import__"}
# `S(x)` and `sympify(x)` hand a string to eval.
READS_CODE = BUILTINS | {"sympify", "S", "parse_expr", "parse_latex"}
BLANKET = {"simplify", "nsimplify"}
SLOW_TO_IMPORT = {"numpy", "jinja2", "lark", "pybtex", "matplotlib", "scipy", "latex2mathml"}
MACHINE_PATH = re.compile(r"(?<![\w.~])/(?:work|home|root|Users|tmp)/\w|[A-Z]:\\\\?Users|\.\./shared")
TEXT_SUFFIXES = {".py", ".toml", ".md", ".tex", ".j2", ".cff", ".yaml", ".yml", ".json", ".txt", ""}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def sources(*folders: Path) -> list[Path]:
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


ENGINE = sources(PACKAGE)
AUTHORED = sources(PACKAGE, ROOT / "derivations")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def floor_of(path: Path) -> str:
    """`symscale/cost/tally.py` and `symscale/cost.py` are both on floor `cost`."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_modules(tree: ast.AST, package: str) -> Iterator[tuple[int, str]]:
    """Yield (line, absolute module) of every import, those inside functions and TYPE_CHECKING included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            base = parts[: len(parts) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            # `from symscale import cost` may name a floor or a public object.
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from ((node.lineno, each.value) for each in node.args if isinstance(each, ast.Constant))


def imported_floors(tree: ast.AST, package: str) -> Iterator[tuple[int, str]]:
    for line, module in imported_modules(tree, package):
        top, *rest = module.split(".")
        if top == "symscale":
            yield line, rest[0] if rest and rest[0] in FLOORS else "__init__"


def upward_imports(tree: ast.AST, package: str, floor: str) -> list[str]:
    rank = FLOORS.index(floor)
    targets = dict.fromkeys(imported_floors(tree, package))  # one import of many names is one finding
    return [f"line {line}: {floor} -> {target}" for line, target in targets if FLOORS.index(target) < rank]


def calls(tree: ast.AST, names: set[str]) -> list[str]:
    """Return the calls to any of `names`, plain (`eval(…)`) or as an attribute (`sp.Symbol(…)`)."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        plain = called.id if isinstance(called, ast.Name) else ""
        attribute = called.attr if isinstance(called, ast.Attribute) else ""
        # `Poly.eval` and `re.compile` only share a name with the builtin.
        if attribute in BUILTINS and ast.unparse(called) != f"builtins.{attribute}":
            attribute = ""
        if {plain, attribute} & names:
            found.append(f"line {node.lineno}: {ast.unparse(called)}(…)")
    return found


def hidden_names(tree: ast.AST, names: set[str]) -> list[str]:
    """Return imports that rename one of `names`, which would hide its calls from `calls`."""
    return [
        f"line {node.lineno}: {alias.name} as {alias.asname}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in names and alias.asname not in (None, alias.name)
    ]


def imports_at_load(body: list[ast.stmt]) -> Iterator[tuple[int, str]]:
    """Yield the imports that run when the module is loaded: not those in functions or under TYPE_CHECKING."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or ""
        elif isinstance(node, ast.If):
            if "TYPE_CHECKING" not in ast.unparse(node.test):
                yield from imports_at_load(node.body)
            yield from imports_at_load(node.orelse)
        elif isinstance(node, ast.ClassDef | ast.With | ast.Try):
            yield from imports_at_load(node.body)


def slow_imports(tree: ast.Module) -> list[str]:
    return [f"line {n}: {m}" for n, m in imports_at_load(tree.body) if m.split(".")[0] in SLOW_TO_IMPORT]


def private_imports(tree: ast.AST) -> list[str]:
    """Return imports that go past the public names, as `from symscale.solve import …` does."""
    return [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("symscale."))
        or (isinstance(node, ast.Import) and any(a.name.startswith("symscale.") for a in node.names))
    ]


def package_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts[:-1])


def expect_nothing(found: dict[str, list[str]], rule: str) -> None:
    places = [f"{name}: {line}" for name, lines in found.items() for line in lines]
    if places:
        pytest.fail("\n".join([f"{rule}:", *places]), pytrace=False)


def test_the_sources_are_found() -> None:
    assert {"vocabulary", "errors", "solve", "notation"} <= {floor_of(path) for path in ENGINE}


def test_every_file_stands_on_a_floor() -> None:
    unplaced = [name_of(path) for path in ENGINE if floor_of(path) not in FLOORS]
    assert not unplaced, f"no floor for {unplaced}: add it to FLOORS, and to the plan in CONTRIBUTING.md"


def test_imports_run_downward() -> None:
    placed = [path for path in ENGINE if floor_of(path) in FLOORS]
    found = {name_of(p): upward_imports(tree_of(p), package_of(p), floor_of(p)) for p in placed}
    for owner, line in ASK_ABOVE.items():
        found[owner] = [each for each in found[owner] if not each.endswith(line)]
    expect_nothing(found, "an import runs upward")


def test_only_the_vocabulary_makes_symbols() -> None:
    found = {
        name_of(p): calls(tree_of(p), MAKES_SYMBOLS) + hidden_names(tree_of(p), MAKES_SYMBOLS)
        for p in AUTHORED
        if p != PACKAGE / "vocabulary.py"
    }
    expect_nothing(found, "use vocabulary.symbol or vocabulary.fresh")


def test_nothing_evaluates_text() -> None:
    found = {name_of(p): calls(tree_of(p), READS_CODE) + hidden_names(tree_of(p), READS_CODE) for p in AUTHORED}
    expect_nothing(found, "text goes through the grammar, an int through sp.Integer")


def test_no_blanket_simplify() -> None:
    found = {name_of(p): calls(tree_of(p), BLANKET) for p in ENGINE}
    expect_nothing(found, "use together, factor or Poly knowingly")


def test_slow_modules_are_imported_where_used() -> None:
    found = {name_of(p): slow_imports(tree_of(p)) for p in ENGINE}
    expect_nothing(found, "import these inside the function that needs them")


def test_derivations_use_the_public_names_only() -> None:
    found = {name_of(p): private_imports(tree_of(p)) for p in sources(ROOT / "derivations")}
    expect_nothing(found, "a derivation is written as a user would")


def test_no_file_grows_beyond_one_idea() -> None:
    lengths = {name_of(p): len(p.read_text(encoding="utf-8").splitlines()) for p in AUTHORED}
    long = {name: n for name, n in lengths.items() if n > MAX_LINES}
    assert not long, f"more than {MAX_LINES} lines: {long}"


def test_no_path_of_one_machine() -> None:
    folders = ("symscale", "derivations", "templates", "tests", "benchmarks", "reports", "docs", ".ci")
    paths = [p for folder in folders for p in (ROOT / folder).rglob("*") if p.is_file()]
    paths += [p for p in ROOT.iterdir() if p.is_file()]
    found = {}
    for path in paths:
        if path.suffix in TEXT_SUFFIXES and "__pycache__" not in path.parts and path.name[:4] not in (".cov", ".git"):
            lines = path.read_text(encoding="utf-8").splitlines()
            found[name_of(path)] = [
                f"line {n}: {text.strip()}" for n, text in enumerate(lines, 1) if MACHINE_PATH.search(text)
            ]
    expect_nothing(found, "a path that exists on one machine only")


@pytest.mark.parametrize(
    ("source", "floor", "caught"),
    [
        ("from symscale.cli import main", "solve", True),
        ("import symscale.report.markdown", "derivation", True),
        ("def f():\n    from symscale import report", "derivation", True),
        ("from ..cost import tally", "partition", True),
        ("from . import terms", "solve", False),
        ("from symscale import derive", "solve", True),
        ("import symscale", "quantity", True),
        ("import_module('symscale.notebook')", "derivation", True),
        ("from symscale.errors import UnitError", "vocabulary", False),
        ("import sympy as sp", "errors", False),
    ],
)
def test_an_upward_import_is_seen(source: str, floor: str, caught: bool) -> None:
    assert bool(upward_imports(ast.parse(source), f"symscale.{floor}", floor)) is caught


@pytest.mark.parametrize(
    ("source", "names", "caught"),
    [
        ("x = sp.Symbol('x')", MAKES_SYMBOLS, True),
        ("x: sp.Symbol = f(); isinstance(x, sp.Symbol)", MAKES_SYMBOLS, False),
        ("x, y = symbols('x y')", MAKES_SYMBOLS, True),
        ("from sympy import Dummy as D", MAKES_SYMBOLS, True),
        ("x.free_symbols", MAKES_SYMBOLS, False),
        ("eval(text)", READS_CODE, True),
        ("builtins.exec(text)", READS_CODE, True),
        ("expr.evalf(15); poly.eval(2); re.compile('x')", READS_CODE, False),
        ("compile(text, '', 'eval')", READS_CODE, True),
        ("sp.S('x'), sp.S.One", READS_CODE, True),
        ("sp.S.One", READS_CODE, False),
    ],
)
def test_a_forbidden_call_is_seen(source: str, names: set[str], caught: bool) -> None:
    tree = ast.parse(source)
    assert bool(calls(tree, names) + hidden_names(tree, names)) is caught


@pytest.mark.parametrize(
    ("source", "caught"),
    [
        ("import numpy as np", True),
        ("try:\n    from lark import Lark\nexcept ImportError:\n    pass", True),
        ("def f():\n    import jinja2", False),
        ("if TYPE_CHECKING:\n    import numpy", False),
    ],
)
def test_a_slow_import_is_seen(source: str, caught: bool) -> None:
    assert bool(slow_imports(ast.parse(source))) is caught


@pytest.mark.parametrize(
    ("text", "caught"),
    [("open('%swork%smain')", True), ("see %shome%sme", True), ("https:%s%sexample.org%shome", False)],
)
def test_a_machine_path_is_seen(text: str, caught: bool) -> None:
    assert bool(MACHINE_PATH.search(text.replace("%s", "/"))) is caught
