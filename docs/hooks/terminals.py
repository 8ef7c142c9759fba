"""Terminals have commands behind `$` alone: what they print may begin with `#` or `%`, as TOML and LaTeX do."""

from __future__ import annotations

import re

from pygments.lexers.shell import BashSessionLexer

BashSessionLexer._ps1rgx = re.compile(r"^(\$ )(.*\n?)")
