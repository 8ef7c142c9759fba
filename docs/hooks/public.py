"""The Python reference: `::: symscale.NAME` is where the public name is defined, under the name it is imported by."""

from __future__ import annotations

import re
from typing import Any

_NAME = re.compile(r"^::: symscale\.(\w+)$", re.MULTILINE)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    return _NAME.sub(_place, markdown)


def _place(found: re.Match[str]) -> str:
    from types import ModuleType

    import symscale

    name = found[1]
    value = getattr(symscale, name)
    if isinstance(value, ModuleType):  # a package that can be called: what it does is a function of its own name
        value = getattr(value, name)
    place = f"{value.__module__}.{value.__qualname__}"
    return f"::: {place}\n    options:\n      heading: symscale.{name}\n      toc_label: {name}"
