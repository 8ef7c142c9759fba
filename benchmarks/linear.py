"""Deriving long programs: 4000 einsums against 400, all names distinct, and 400 against `import sympy`."""

from __future__ import annotations

import gc
import subprocess
import sys
import time

from symscale.derivation import Question, derive


def chain(length: int) -> str:
    """Return a program of `length` einsums with arrays and dimensions of their own names."""
    lines = ["x0[B_X, d0] * w0[d0_X, d1] -> x1[B_X, d1]"]
    lines += [f"x{n} * w{n}[d{n}_X, d{n + 1}] -> x{n + 1}[B_X, d{n + 1}]" for n in range(1, length)]
    return "; ".join(lines)


def seconds(length: int) -> float:
    """Return the time to derive a chain and its crossover [s]."""
    text = chain(length)
    gc.collect()
    start = time.perf_counter()
    derive(Question(text, solve="B", passes="forward"))
    return time.perf_counter() - start


def main() -> None:
    """Print both ratios."""
    seconds(40)
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import sympy"], check=True)
    base = time.perf_counter() - start
    short, long = seconds(400), seconds(4000)
    print(f"400 einsums: {short:.2f} s, {short / base:.1f} × import sympy (aim: at most 10 ×)")
    print(f"4000 einsums: {long:.2f} s, {long / short:.1f} × 400 einsums (aim: at most 12 ×)")


if __name__ == "__main__":
    main()
