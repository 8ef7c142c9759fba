"""The chips that come with symscale, found by name or alias; one TOML file each in `data/`."""

from __future__ import annotations

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


@lru_cache(maxsize=1)
def machines() -> tuple[str, ...]:
    """Return the canonical names of all chips that come with symscale, sorted."""
    return tuple(sorted(path.stem for path in DATA.glob("*.toml")))


@lru_cache(maxsize=64)
def machine(name: str) -> Machine:
    """Return the chip of this canonical name or alias, in any case; MachineError names the close ones."""
    key = name.strip().lower().replace("_", "-").replace(" ", "-")
    if key in machines():
        # One small file, so that a command on a named chip does not read all of them.
        return load_machine(DATA / f"{key}.toml")
    known = aliases()
    if key in known:
        return machine(known[key])
    hint = f"Known chips: {', '.join(machines())}.{did_you_mean(key, [*machines(), *known])}"
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
