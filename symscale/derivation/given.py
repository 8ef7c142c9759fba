"""The first step of a derivation: the program, where its mesh lies, and that its layouts are legal."""

from __future__ import annotations

from symscale.collectives import lies
from symscale.derivation.layer import MOST_AXES, Layer, spanned
from symscale.derivation.names import renamed
from symscale.derivation.sizes import padding
from symscale.derivation.step import Step
from symscale.errors import StepError
from symscale.frozen import dataclass
from symscale.partition import Collective
from symscale.solve.relation import Relation


@dataclass(frozen=True)
class Legal:
    """A program: every array has one state per mesh axis, and every result the dimensions it should have."""

    layer: Layer
    name: str = "layouts are legal and shapes agree"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where a planned operation has disagreeing layouts."""
        for planned in (each for name in self.layer.plan.passes.values() for each in name):
            if isinstance(planned, Collective):
                continue
            layouts = [buffer.layout for buffer in planned.operands]
            for dim in {dim for layout in layouts for dim in layout.dims}:
                if len({layout.of(dim) for layout in layouts if dim in layout.dims}) > 1:
                    raise StepError(f"Operands of {planned.result} split {dim} differently.")


def program_step(layer: Layer, text: str) -> Step:
    """Return the step that states a program as it is written."""
    said = " ".join([_setting(layer), *renamed(layer), *padding(layer)])
    shown = "; ".join(each.strip().removesuffix(";") for each in text.split("\n") if each.strip())
    return Step("given", "The program", said, (), (Legal(layer),), lines=(shown,))


def _setting(layer: Layer) -> str:
    parts = []
    for axis, on in layer.axes.items():
        size = layer.program.mesh[axis]
        links = f" spanning {on.links} physical axes" if on.links != 1 else ""
        assumed = " (wraparound assumed)" if size.is_Symbol and on.kind == "torus" else ""
        parts.append(f"{axis}: {'' if size.is_Symbol else f'{size} chips on '}{lies(on)}{links}{assumed}")
    said = "Mesh axes: " + "; ".join(parts) + "." if parts else "One chip, nothing is sharded."
    taken = spanned(list(layer.axes.values()), {})
    if taken > MOST_AXES:
        said += f" Together they take {taken} physical axes of a torus; chips have at most {MOST_AXES}."
    return said
