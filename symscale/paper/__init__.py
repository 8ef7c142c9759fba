<<<<<<< HEAD
"""Documents that people write: pieces of derivations in them, kept up to date."""
=======
"""Derivations in documents: a request names a piece of one, a dialect writes it."""

from symscale.paper.dialect import DIALECTS, LATEX, MARKDOWN, Dialect, dialect_of
from symscale.paper.request import Request, read_request, request
from symscale.paper.settings import Settings, read_settings
from symscale.paper.style import Style
from symscale.paper.write import write

__all__ = [
    "DIALECTS",
    "LATEX",
    "MARKDOWN",
    "Dialect",
    "Request",
    "Settings",
    "Style",
    "dialect_of",
    "read_request",
    "read_settings",
    "request",
    "write",
]
>>>>>>> 64084b2 (x)
