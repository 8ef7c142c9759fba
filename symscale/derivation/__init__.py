"""Derivations: steps, their checker, the blackboard that writes them, and the library."""

from symscale.derivation.builder import Builder
from symscale.derivation.question import Answered, Question, derive
from symscale.derivation.registry import derivation
from symscale.derivation.step import Derivation, Step, verify

__all__ = ["Answered", "Builder", "Derivation", "Question", "Step", "derivation", "derive", "verify"]
