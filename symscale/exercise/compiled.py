"""What a compiled program says in words, for rows of printed answers: its text, its collectives and its products.

Passes are named `forward`, `backward` or `both`; those of both stand apart with ";".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from symscale.array import Einsum
from symscale.derivation.layer import Layer
from symscale.partition import Local

BOTH = ("forward", "backward")


def collectives(layer: Layer, which: str) -> str:
    """Return the collectives of a pass with their mesh axes, in their order: "AllGather X, ReduceScatter X"."""
    return "; ".join(_sent(layer, name) for name in (BOTH if which == "both" else (which,)))


def _sent(layer: Layer, name: str) -> str:
    return ", ".join(f"{each.collective.kind} {','.join(each.collective.axes)}" for each in layer.costs[name].transfers)


def products(layer: Layer, which: str) -> str:
    """Return the products of a pass, one after the other: "dOut[B, D] * W_out[F, D] -> dTmp[B, F]; ..."."""
    return "; ".join(text for _, text in _multiplied(layer, which))


def product(layer: Layer, made: str) -> str:
    """Return the product that makes an array or a gradient such as dW_in."""
    (text,) = [text for name in BOTH for result, text in _multiplied(layer, name) if result == made]
    return text


def _multiplied(layer: Layer, name: str) -> Iterator[tuple[str, str]]:
    """Yield what each product of a pass makes, and its text."""
    for each in layer.plan.passes[name]:
        if isinstance(each, Local) and isinstance(each.operation, Einsum):
            yield each.result.value, f"{' * '.join(map(str, each.operands))} -> {each.result}"


def program(layer: Layer, _: str) -> str:
    """Return the text of the program."""
    return layer.program.text.strip()


#: The words that a row's quantity may begin with.
TEXTS: Mapping[str, Callable[[Layer, str], str]] = {
    "collectives": collectives,
    "products": products,
    "product": product,
    "program": program,
}
