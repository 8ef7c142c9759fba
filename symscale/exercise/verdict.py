"""What becomes of an answer."""

from __future__ import annotations

from symscale.exercise.exercise import Asked
from symscale.frozen import dataclass
from symscale.solve.relation import Relation

RIGHT = "right"
LEADING = "right to leading order"
UNIT = "right number, wrong unit"
CONVENTION = "right under another convention"
WRONG = "wrong"
#: From best to worst.
KINDS = (RIGHT, LEADING, CONVENTION, UNIT, WRONG)
UNEXPLAINED = "No known slip explains it."


@dataclass(frozen=True)
class Verdict:
    """The kind of verdict, a sentence that says why, and what the answer was judged as.

    `diagnosis` names conventions or slips under which the derivation, computed again, gives the answer; `ratio` is the
    answer over what is derived, `step` the number of the step at which the two part, 0 where that is not known;
    `when` is what the case of the derivation that an answer is, of several, holds under.
    """

    kind: str
    said: str = ""
    asked: Asked | None = None
    diagnosis: tuple[str, ...] = ()
    ratio: float | None = None
    step: int = 0
    when: tuple[Relation, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the answer may stand: it is right, or right to leading order."""
        return self.kind in (RIGHT, LEADING)
