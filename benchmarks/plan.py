"""Step times of millions of meshes: meshes per second on one core, beside numpy code of the same expressions.

The numpy side is the text that a person would write: one statement per common subexpression, on whole arrays and, as a
second baseline, on pieces that fit into the cache as ours do.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import sympy as sp
from sympy.printing.numpy import NumPyPrinter

from symscale.quantity.grid import CHUNK, evaluate
from symscale.transformer import model
from symscale.transformer.step import Setting, step_form

MESHES = 10_000_000
MODELS = {"llama3-70b": Setting(4 << 20, 8192), "deepseek-v3": Setting(60 << 20, 4096)}
RATES = {"C": 9.89e14, "W_hbm": 3.35e12}


def columns(names: list[str]) -> dict[str, np.ndarray | float]:
    """Return sizes of axes, microbatches and unit costs of random meshes."""
    rng = np.random.default_rng(0)
    found: dict[str, np.ndarray | float] = {}
    for name in names:
        low, high = (1e-13, 1e-11) if name.startswith("u_") else (1, 64)
        found[name] = RATES[name] if name in RATES else rng.uniform(low, high, MESHES)
    return found


def written(expr: sp.Expr, names: list[str]) -> Callable[..., np.ndarray]:
    """Return the expression as a numpy function, a statement per common subexpression."""
    shared, (result,) = sp.cse([expr], order="none")
    printer = NumPyPrinter({"fully_qualified_modules": False})
    lines = [f"    {name} = {_text(printer, part)}" for name, part in shared]
    source = "\n".join([f"def step({', '.join(names)}):", *lines, f"    return {_text(printer, result)}"])
    scope: dict[str, object] = {"maximum": np.maximum, "minimum": np.minimum, "numpy": np}
    exec(source, scope)  # a benchmark's own text
    return scope["step"]  # type: ignore[return-value]


def _text(printer: NumPyPrinter, expr: sp.Expr) -> str:
    if isinstance(expr, sp.Max):
        first, *others = [_text(printer, each) for each in expr.args]
        for other in others:
            first = f"maximum({first}, {other})"
        return first
    stand_ins = {each: sp.Dummy() for each in expr.atoms(sp.Max)}
    text = printer.doprint(expr.xreplace(stand_ins))
    for each, name in stand_ins.items():
        text = text.replace(printer.doprint(name), f"({_text(printer, each)})")
    return text


def in_pieces(step: Callable[..., np.ndarray], values: dict[str, np.ndarray | float]) -> np.ndarray:
    """Run a numpy function on pieces of the arrays."""
    out = np.empty(MESHES)
    for start in range(0, MESHES, CHUNK):
        piece = slice(start, start + CHUNK)
        out[piece] = step(**{n: v[piece] if isinstance(v, np.ndarray) else v for n, v in values.items()})
    return out


def best(run: Callable[[], object], rounds: int = 3) -> float:
    """Return the least processor time of several runs [s]."""
    spent = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        spent.append(time.process_time() - start)
    return min(spent)


def main() -> None:
    """Print meshes per second and the ratios."""
    for name, setting in MODELS.items():
        form = step_form(model(name), setting)
        names = sorted(str(each) for each in form.total.free_symbols)
        values = columns(names)
        step = written(form.total, names)
        assert np.allclose(evaluate(form.total, values), step(**values), rtol=1e-9)
        ours = best(lambda form=form, values=values: evaluate(form.total, values))
        whole = best(lambda step=step, values=values: step(**values))
        pieces = best(lambda step=step, values=values: in_pieces(step, values))
        print(f"{name}: {MESHES / ours / 1e6:.1f} million meshes per second (aim: at least 4)")
        beside = f"{ours / whole:.2f} x numpy on whole arrays, {ours / pieces:.2f} x numpy in pieces"
        print(f"  time {beside} (aim: at most 1.2)")


if __name__ == "__main__":
    main()
