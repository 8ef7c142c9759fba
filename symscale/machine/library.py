"""The chips that come with symscale, found by name or alias; one TOML file each in `data/`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from symscale.errors import MachineError
from symscale.machine.model import Machine, Network, Wrap, did_you_mean

DATA = Path(__file__).parent / "data"

# Networks of no particular chip: bandwidth and hop time stay symbols, axes wrap.
GENERIC = {
    "ici": Network("ici", "torus", wrap=Wrap("always")),
    "nvlink": Network("nvlink", "switch", in_network_reduction=True),
    "ib": Network("ib", "switch", in_network_reduction=True),
    "dcn": Network("dcn", "switch"),
    "pcie": Network("pcie", "switch"),
}


def load_machine(path: str | Path) -> Machine:
    """Read one chip from a TOML file of the schema in docs/machines.md.

    MachineError names the file, the key, what was found and what is needed.
    """
    # Only a command on a chip pays for reading TOML.
    from symscale.machine import loader

    return loader.load(Path(path))


_own: dict[str, Machine] = {}


@contextmanager
def also(files: Sequence[Path]) -> Iterator[None]:
    """Know the chips of other files too, such as those of a document, by their names and aliases.

    Raises MachineError for a file that does not validate, and for a name that another chip has.
    """
    if not files:
        yield
        return
    found: dict[str, Machine] = {}
    for file in files:
        chip = load_machine(file)
        for name in (chip.name, *chip.aliases):
            key = _key(name)
            if key in _own and _own[key] == chip:
                continue
            if key in {*machines(), *aliases(), *_own, *found}:
                raise MachineError(f"{file}: another chip is called {shortened(name)!r}.", hint="Give it another name.")
            found[key] = chip
    _own.update(found)
    machine.cache_clear()
    try:
        yield
    finally:
        for key in found:
            del _own[key]
        machine.cache_clear()


@lru_cache(maxsize=1)
def machines() -> tuple[str, ...]:
    """Return the canonical names of all chips that come with symscale, sorted."""
    return tuple(sorted(path.stem for path in DATA.glob("*.toml")))


def known_machines() -> tuple[str, ...]:
    """Return the names of the chips that come with symscale, and of those of other files that are known now."""
    return (*machines(), *dict.fromkeys(each.name for each in _own.values()))


def _key(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(" ", "-")


@lru_cache(maxsize=64)
def machine(name: str) -> Machine:
    """Return the chip of this canonical name or alias, in any case; MachineError names the close ones."""
    key = _key(name)
    if key in _own:
        return _own[key]
    if key in machines():
        # One small file, so that a command on a named chip does not read all of them.
        return load_machine(DATA / f"{key}.toml")
    known = aliases()
    if key in known:
        return machine(known[key])
    there = known_machines()
    hint = f"Known chips: {', '.join(there)}.{did_you_mean(key, [*there, *known, *_own])}"
    raise MachineError(
        f"No chip is called {shortened(name)!r}.",
        hint=f"{hint} A chip of your own: give a TOML file (--machine my.toml).",
    )


@lru_cache(maxsize=1)
def aliases() -> dict[str, str]:
    """Return alias → canonical name for all chips."""
    return {alias: name for name in machines() for alias in machine(name).aliases}


def generic_network(name: str) -> Network:
    """Return the network of no particular chip by name: ici, nvlink, ib, dcn or pcie; else MachineError."""
    if name not in GENERIC:
        raise MachineError(
            f"No network is called {shortened(name)!r}.",
            hint=f"Known networks: {', '.join(GENERIC)}.{did_you_mean(name, GENERIC)}",
        )
    return GENERIC[name]


def shortened(word: str, width: int = 60) -> str:
    """Return `word` cut to `width` characters."""
    return word if len(word) <= width else word[: width - 1] + "…"
