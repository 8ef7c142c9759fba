"""Frozen dataclasses that are cheap to define: an import of the package defines a hundred.

`dataclasses.dataclass(frozen=True)` writes six methods as text and compiles them, for each class anew, which takes a
millisecond. Here the methods are closures over the fields. Fields, defaults, `replace`, `asdict`, equality, hashes and
`repr` are those of the standard library, and a type checker sees nothing else.
"""

from __future__ import annotations

import dataclasses
from dataclasses import MISSING, FrozenInstanceError
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, Literal, NoReturn

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: Literal[True]):
        """Return a decorator that makes a class a frozen dataclass."""
        return _defined


def _defined(cls: Any) -> Any:
    written = set(vars(cls))
    made = dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
    fields = dataclasses.fields(made)
    made.__signature__ = Signature([_parameter(each) for each in fields])
    methods = {"__init__": _init(fields, made.__signature__), **_compared(fields), **_kept(cls.__qualname__, fields)}
    for name in methods.keys() - written:
        setattr(made, name, methods[name])
    return made


def _parameter(field: dataclasses.Field[Any]) -> Parameter:
    default = Parameter.empty if field.default is MISSING and field.default_factory is MISSING else field.default
    return Parameter(field.name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=field.type)


def _init(fields: tuple[dataclasses.Field[Any], ...], signature: Signature) -> Any:
    names = tuple(each.name for each in fields)
    every = frozenset(names)
    default = {each.name: each.default for each in fields if each.default is not MISSING}
    factory = {each.name: each.default_factory for each in fields if each.default_factory is not MISSING}
    optional = default.keys() | factory.keys()

    def init(self: Any, /, *args: Any, **kwargs: Any) -> None:
        values = dict(zip(names, args, strict=False), **kwargs)
        if len(args) + len(kwargs) != len(names) or len(values) != len(names):
            left = every - values.keys()
            if len(args) + len(kwargs) + len(left) != len(names) or not left <= optional:
                signature.bind(*args, **kwargs)  # which raises the TypeError that says what is wrong
            for name in left:
                values[name] = default[name] if name in default else factory[name]()
        elif kwargs and values.keys() != every:
            signature.bind(*args, **kwargs)
        self.__dict__.update(values)
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    return init


def _compared(fields: tuple[dataclasses.Field[Any], ...]) -> dict[str, Any]:
    names = tuple(each.name for each in fields if each.compare)

    def equal(self: Any, other: object) -> Any:
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = self.__dict__, other.__dict__
        return all(mine[name] is theirs[name] or mine[name] == theirs[name] for name in names)

    def hashed(self: Any) -> int:
        values = self.__dict__
        return hash(tuple([values[name] for name in names]))

    return {"__eq__": equal, "__hash__": hashed}


def _kept(title: str, fields: tuple[dataclasses.Field[Any], ...]) -> dict[str, Any]:
    names = tuple(each.name for each in fields if each.repr)

    def represented(self: Any) -> str:
        return f"{title}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    def refuse(self: Any, name: str, value: object = None) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    return {"__repr__": represented, "__setattr__": refuse, "__delattr__": refuse}
