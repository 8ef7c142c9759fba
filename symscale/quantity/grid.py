"""Formulas over grids: one compiled numpy program, run in chunks that stay in the cache.

Numbers become doubles before anything is multiplied, so that whole-number arrays cannot overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import sympy as sp

from symscale.errors import SymscaleError
from symscale.frozen import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHUNK = 1 << 12  # doubles: 32 KiB, so that temporaries stay in the first-level cache
Slots = list[Any]
Run = Callable[[Slots], Any]


@dataclass(frozen=True)
class Compiled:
    """A formula as a list of numpy steps: `names` of the inputs, then one function per common subexpression."""

    names: tuple[str, ...]
    steps: tuple[Run, ...]
    result: Run


def compiled(expr: sp.Expr) -> Compiled:
    """Return the numpy program of a formula, with common subexpressions computed once.

    Raises SymscaleError for a function that has no numpy counterpart.
    """
    names = tuple(sorted(str(symbol) for symbol in expr.free_symbols))
    shared, (rest,) = sp.cse([expr], order="none")
    slots = {name: place for place, name in enumerate(names)}
    steps = []
    for symbol, part in shared:
        steps.append(_node(part, slots))
        slots[str(symbol)] = len(slots)
    return Compiled(names, tuple(steps), _node(rest, slots))


def evaluate(expr: sp.Expr, values: Mapping[str, NDArray[Any] | float | sp.Expr]) -> NDArray[np.float64]:
    """Return a formula over arrays that broadcast together, as doubles.

    6*P*T at P = 405e9 and an array of T: memory beyond the result stays at a few chunks. Raises SymscaleError if a
    symbol has no value or the arrays do not broadcast.
    """
    import numpy as np

    names = sorted(str(symbol) for symbol in expr.free_symbols)
    missing = [name for name in names if name not in values]
    if missing:
        raise SymscaleError(f"{missing[0]} has no value.", hint=f"Give values for {', '.join(names)}.")
    program = compiled(_with_scalars(expr, values))
    arrays = [np.asarray(_double(values[name])) for name in program.names]
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError as error:
        raise SymscaleError("The arrays do not broadcast together.", hint="Give them compatible shapes.") from error
    out = np.empty(shape, dtype=np.float64)
    _fill(program, arrays, out)
    return out


def _with_scalars(expr: sp.Expr, values: Mapping[str, Any]) -> sp.Expr:
    """Put single numbers into the formula, where they merge into its coefficients."""
    import numpy as np

    single = {s: sp.Float(float(values[str(s)]), 17) for s in expr.free_symbols if np.ndim(values[str(s)]) == 0}
    return _put(expr, single)


def _put(expr: sp.Expr, single: Mapping[sp.Symbol, sp.Float]) -> sp.Expr:
    """Replace symbols, but leave a Max as it is: evaluated, it would compare all its arguments for all sizes."""
    if not expr.has(sp.Max, sp.Min):
        return expr.xreplace(dict(single))
    parts = [_put(each, single) for each in expr.args]
    if isinstance(expr, sp.Max | sp.Min):
        return type(expr)(*parts, evaluate=False)
    return expr.func(*parts)


def _double(value: Any) -> Any:
    import numpy as np

    if isinstance(value, sp.Expr):
        return float(value)
    return np.asarray(value, dtype=np.float64)


def _fill(program: Compiled, arrays: Sequence[NDArray[Any]], out: NDArray[np.float64]) -> None:
    """Run the program on pieces of the longest axis, each small enough for the cache."""
    if out.size <= CHUNK or out.ndim == 0:
        slots: Slots = list(arrays)
        for step in program.steps:
            slots.append(step(slots))
        out[...] = program.result(slots)
        return
    axis = max(range(out.ndim), key=lambda n: out.shape[n])
    rows = max(1, CHUNK * out.shape[axis] // out.size)
    for start in range(0, out.shape[axis], rows):
        piece = (slice(None),) * axis + (slice(start, start + rows),)
        _fill(program, [_piece(array, axis - out.ndim, start, rows) for array in arrays], out[piece])


def _piece(array: NDArray[Any], axis: int, start: int, rows: int) -> NDArray[Any]:
    """Return the part of an array along an axis counted from the end; one that broadcasts there stays whole."""
    if -axis > array.ndim or array.shape[axis] == 1:
        return array
    place = array.ndim + axis
    part: NDArray[Any] = array[(slice(None),) * place + (slice(start, start + rows),)]
    return part


def _node(expr: sp.Expr, slots: Mapping[str, int]) -> Run:
    import numpy as np

    if expr.is_Symbol:
        place = slots[str(expr)]
        return lambda values: values[place]
    if expr.is_number:
        number = float(expr)
        return lambda _: number
    if expr.is_Mul:
        return _product(expr, slots)
    if expr.is_Pow:
        return _power(expr.base, expr.exp, slots)
    parts = [_node(arg, slots) for arg in expr.args]
    if expr.is_Add:
        return _folded(np.add, parts)
    if isinstance(expr, sp.Max | sp.Min):
        return _folded(np.maximum if isinstance(expr, sp.Max) else np.minimum, parts)
    unary = {sp.ceiling: np.ceil, sp.floor: np.floor, sp.log: np.log, sp.exp: np.exp}.get(type(expr))
    if unary is None or len(parts) != 1:
        raise SymscaleError(f"{type(expr).__name__} cannot be evaluated over a grid.")
    only = parts[0]
    return lambda values: unary(only(values))


def _folded(operation: Any, parts: Sequence[Run]) -> Run:
    """Apply a two-place operation from left to right, from the second time on in place."""
    if len(parts) == 1:
        return parts[0]
    first, second, *others = parts

    def run(values: Slots) -> Any:
        total = operation(first(values), second(values))
        for part in others:
            right = part(values)
            total = operation(total, right, out=total) if _fits(total, right) else operation(total, right)
        return total

    return run


def _fits(total: Any, right: Any) -> bool:
    shape = getattr(total, "shape", ())
    return shape != () and getattr(right, "shape", ()) in ((), shape)


def _product(expr: sp.Expr, slots: Mapping[str, int]) -> Run:
    """Multiply what stands above and what stands below the line, and divide once."""
    import numpy as np

    coefficient, rest = expr.as_coeff_Mul()
    above, below = rest.as_numer_denom() if not rest.is_Add else (rest, sp.S.One)
    top = [_node(factor, slots) for factor in sp.Mul.make_args(above) if factor != 1]
    bottom = [_node(factor, slots) for factor in sp.Mul.make_args(below) if factor != 1]
    number = float(coefficient)
    if number != 1 or not top:
        top = [lambda _: number, *top]
    upper = _folded(np.multiply, top)
    if not bottom:
        return upper
    return _folded(np.divide, [upper, _folded(np.multiply, bottom)])


def _power(base: sp.Expr, exponent: sp.Expr, slots: Mapping[str, int]) -> Run:
    import numpy as np

    inner = _node(base, slots)
    if exponent == -1:
        return lambda values: 1.0 / inner(values)
    if exponent == sp.Rational(1, 2):
        return lambda values: np.sqrt(inner(values))
    if exponent.is_Integer and 2 <= exponent <= 4:
        times = int(exponent)
        return lambda values: reduce(np.multiply, [inner(values)] * times)
    power = _node(exponent, slots)
    return lambda values: np.power(inner(values), power(values))
