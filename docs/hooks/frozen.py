"""For the reader of docstrings: `symscale.frozen.dataclass` makes dataclasses, so their fields are a signature."""

from __future__ import annotations

from typing import Any

from griffe import Class, ExprName, Extension


class Frozen(Extension):
    def on_class_instance(self, *, cls: Class, **kwargs: Any) -> None:
        for each in cls.decorators:
            if each.callable_path.endswith("frozen.dataclass"):
                each.value = ExprName("dataclasses.dataclass")
