"""Derivations: steps, their checker, the blackboard that writes them, and the library."""

import sys
from collections.abc import Callable
from types import ModuleType

from symscale.derivation.builder import Builder
from symscale.derivation.question import Answered, Question, derive
from symscale.derivation.registry import derivation
from symscale.derivation.step import Derivation, Step, verify

__all__ = ["Answered", "Builder", "Derivation", "Question", "Step", "derivation", "derive", "verify"]

Writer = Callable[[Builder], object]


class _Package(ModuleType):
    """`from symscale import derivation` gives this package; called, it is the decorator."""

    def __call__(self, id: str, *, title: str, source: str = "") -> Callable[[Writer], Writer]:
        return derivation(id, title=title, source=source)


sys.modules[__name__].__class__ = _Package
