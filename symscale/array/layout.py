"""Layouts: for every mesh axis an array has one state, and this is its record.

An axis splits one dimension, or it is replicated, or the array owes a sum over it:
`[I_XY, J]{U_Z}` splits I over X (major) and Y (minor), and is a partial sum over Z.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from symscale.errors import LayoutError
from symscale.frozen import dataclass

Axes = tuple[str, ...]


@dataclass(frozen=True)
class Layout:
    """The dimensions of an array, the mesh axes that split each, and the axes over which it owes a sum."""

    dims: tuple[str, ...]
    axes: tuple[Axes, ...]
    owes: Axes = ()

    def of(self, dim: str) -> Axes:
        """Return the mesh axes that split `dim`, major first; () where the array has no such dimension."""
        return self.axes[self.dims.index(dim)] if dim in self.dims else ()

    def home(self, axis: str) -> str | None:
        """Return the dimension that `axis` splits, or None."""
        return next((dim for dim, axes in self.items() if axis in axes), None)

    def items(self) -> Iterator[tuple[str, Axes]]:
        """Yield each dimension with its axes."""
        return iter(zip(self.dims, self.axes, strict=True))

    @property
    def split(self) -> frozenset[str]:
        """The mesh axes that split a dimension."""
        return frozenset(axis for axes in self.axes for axis in axes)

    @property
    def paid(self) -> Layout:
        """The same layout owing nothing, which is also the layout of a cotangent."""
        return replace(self, owes=()) if self.owes else self

    def put(self, dim: str, axes: Iterable[str]) -> Layout:
        """Return the layout with `dim` split over `axes`."""
        at = self.dims.index(dim)
        return replace(self, axes=(*self.axes[:at], tuple(axes), *self.axes[at + 1 :]))

    def owing(self, axes: Iterable[str]) -> Layout:
        """Return the layout with its owed sums replaced, in alphabetical order."""
        return replace(self, owes=tuple(sorted(axes)))

    def renamed(self, names: Iterable[tuple[str, str]]) -> Layout:
        """Return the layout with other names for dimensions, `(old, new)` each."""
        new = dict(names)
        return replace(self, dims=tuple(new.get(dim, dim) for dim in self.dims))

    def without(self, axes: Iterable[str]) -> Layout:
        """Return the layout with `axes` removed from every dimension."""
        gone = frozenset(axes)
        return replace(self, axes=tuple(tuple(a for a in each if a not in gone) for each in self.axes))

    def __str__(self) -> str:
        inside = ", ".join(dim + subscript(axes) for dim, axes in self.items())
        return f"[{inside}]" + (f"{{U{subscript(self.owes)}}}" if self.owes else "")


def common_prefix(first: Axes, second: Axes) -> Axes:
    """Return the axes with which both begin."""
    size = 0
    while size < min(len(first), len(second)) and first[size] == second[size]:
        size += 1
    return first[:size]


def subscript(axes: Axes) -> str:
    """Return the axes as the notation writes them below a letter: `_XY` or `_{data,seq}`."""
    if not axes:
        return ""
    if all(len(axis) == 1 and axis.isupper() for axis in axes):
        return "_" + "".join(axes)
    return "_{" + ",".join(axes) + "}"


def validate(layout: Layout, name: str) -> Layout:
    """Return `layout` if every axis has one state in it. Raises LayoutError naming the axis otherwise."""
    if len(set(layout.dims)) < len(layout.dims):
        twice = next(dim for dim in layout.dims if layout.dims.count(dim) > 1)
        raise LayoutError(
            f"{name}{layout} has the dimension {twice} twice.",
            hint=f"Give the second one a name of its own and set it equal: `--set {twice}2={twice}`.",
        )
    seen: dict[str, str] = {}
    for dim, axes in layout.items():
        for axis in axes:
            if axis in seen:
                raise LayoutError(
                    f"{name}{layout} uses the mesh axis {axis} twice (on {seen[axis]} and on {dim}); "
                    "one mesh axis shards one dimension only.",
                    hint=f"Shard {dim} over another axis, or leave it whole.",
                )
            seen[axis] = dim
    both = [axis for axis in layout.owes if axis in seen]
    if both:
        raise LayoutError(
            f"{name}{layout} both splits {seen[both[0]]} over {both[0]} and owes a sum over it.",
            hint="An axis splits a dimension, or is replicated, or owes a sum: never two of these.",
        )
    return layout
