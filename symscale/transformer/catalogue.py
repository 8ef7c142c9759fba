"""The models that come with symscale, found by name or alias; `data/models.toml` holds their fields and sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache
from pathlib import Path
from typing import Any

from symscale.errors import ModelError
from symscale.frozen import dataclass
from symscale.machine.library import shortened
from symscale.machine.model import did_you_mean
from symscale.transformer.config import Config
from symscale.transformer.reading import load_config, read_config

DATA = Path(__file__).parent / "data" / "models.toml"
HEAD = ("source", "aliases", "training")


@dataclass(frozen=True)
class Entry:
    """A model of the catalogue: the fields of its config, and where they were read.

    `training` holds what is known of its training (tokens, tokens per batch, chips), each as a value and its source.
    """

    name: str
    fields: Mapping[str, Any]
    source: str
    aliases: tuple[str, ...] = ()
    training: Mapping[str, tuple[int, str]] = field(default_factory=dict)


@lru_cache(maxsize=1)
def catalogue() -> Mapping[str, Entry]:
    """Return every model of the catalogue by its name."""
    import tomllib

    table = tomllib.loads(DATA.read_text(encoding="utf-8"))
    return {name: _entry(name, row) for name, row in table.items()}


def _entry(name: str, row: Mapping[str, Any]) -> Entry:
    fields = {key: None if value == "null" else value for key, value in row.items() if key not in HEAD}
    training = {key: (fact["value"], fact["source"]) for key, fact in row.get("training", {}).items()}
    return Entry(name, fields, row["source"], tuple(row.get("aliases", ())), training)


def entry(name: str) -> Entry:
    """Return the model of this name or alias, in any case. Raises ModelError with the close ones."""
    known = catalogue()
    key = name.strip().lower().replace("_", "-").replace(" ", "-")
    if key in known:
        return known[key]
    aliases = {alias: each for each, row in known.items() for alias in row.aliases}
    if key in aliases:
        return known[aliases[key]]
    raise ModelError(
        f"No model is called {shortened(name)!r}, and there is no such file.",
        hint=f"`symscale model` lists the {len(known)} known ones.{did_you_mean(key, [*known, *aliases])}"
        " A model of your own: give the path of its config.json.",
    )


def model(name: str) -> Config:
    """Return the architecture of a model of the catalogue. Raises ModelError."""
    found = entry(name)
    return read_config(found.fields, found.name)


def model_or_file(word: str) -> Config:
    """Return the model that a word means: a name of the catalogue, else a config.json or the folder it lies in."""
    looks_like_a_path = word.endswith(".json") or "/" in word or "\\" in word
    if looks_like_a_path or _is_there(word):
        return load_config(word)
    return model(word)


def _is_there(word: str) -> bool:
    try:
        return Path(word).is_file() or (Path(word) / "config.json").is_file()
    except (OSError, ValueError):
        return False
