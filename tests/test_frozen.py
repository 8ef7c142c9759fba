"""Our frozen dataclasses behave as the standard library's."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, replace
from typing import Any

import pytest

from symscale import frozen


@dataclasses.dataclass(frozen=True)
class Theirs:
    a: int
    b: str = "x"
    c: dict[str, int] = field(default_factory=dict)
    d: int = field(default=3, repr=False)
    e: int = field(default=4, compare=False)


@frozen.dataclass(frozen=True)
class Ours:
    a: int
    b: str = "x"
    c: dict[str, int] = field(default_factory=dict)
    d: int = field(default=3, repr=False)
    e: int = field(default=4, compare=False)


@frozen.dataclass(frozen=True)
class Pair:
    left: int
    right: int

    def __post_init__(self) -> None:
        if self.left > self.right:
            raise ValueError("left is more than right")


CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((1,), {}),
    ((1, "y", {"k": 1}, 5, 6), {}),
    ((), {"a": 1, "e": 2}),
    ((1,), {"c": {"z": 0}}),
    ((), {}),
    ((1,), {"a": 2}),
    ((1,), {"f": 2}),
    ((1, 2, 3, 4, 5, 6), {}),
    ((), {"b": "y"}),
]


def outcome(make: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
    try:
        return dataclasses.asdict(make(*args, **kwargs))
    except TypeError:
        return TypeError


@pytest.mark.parametrize(("args", "kwargs"), CALLS)
def test_a_call_has_the_same_outcome(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    assert outcome(Ours, args, kwargs) == outcome(Theirs, args, kwargs)


def test_a_wrong_call_says_which_argument() -> None:
    for args, kwargs, said in (((), {}, "'a'"), ((1,), {"f": 2}, "'f'"), ((1,), {"a": 2}, "'a'")):
        with pytest.raises(TypeError, match=said):
            Ours(*args, **kwargs)


def test_equality_hash_and_repr() -> None:
    assert Ours(1, e=5) == Ours(1, e=6)
    assert Ours(1) != Ours(2)
    assert Ours(1) != Theirs(1)
    assert repr(Ours(1)) == repr(Theirs(1)).replace("Theirs", "Ours")
    assert hash(Pair(1, 2)) == hash(Pair(1, 2)) != hash(Pair(1, 3))
    assert len({Pair(1, 2), Pair(1, 2), Pair(0, 2)}) == 2


def test_it_is_frozen_and_defaults_are_not_shared() -> None:
    made = Ours(1)
    with pytest.raises(FrozenInstanceError, match="'a'"):
        made.a = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="'a'"):
        del made.a
    made.c["k"] = 1
    assert not Ours(1).c


def test_replace_checks_again_and_pickles() -> None:
    assert replace(Pair(1, 2), right=3) == Pair(1, 3)
    with pytest.raises(ValueError, match="left"):
        replace(Pair(1, 2), left=3)
    assert pickle.loads(pickle.dumps(Pair(1, 2))) == Pair(1, 2)
