"""Pages with live inputs for some derivations of the library, and the list of them in the gallery."""

from __future__ import annotations

from typing import Any

from mkdocs.structure.files import File, Files
from writing import plain

# A condition, an optimum, a map, a roofline, a table, a trade-off.
IDS = (
    "training/fsdp",
    "training/mixed-mesh",
    "training/regimes",
    "roofline/chip",
    "inference/latency-throughput",
    "serving/regimes",
)


def on_files(files: Files, config: Any) -> Files:
    from symscale import html, written

    for name in IDS:
        files.append(File.generated(config, place(name), content=html(written(name))))
    return files


def live() -> str:
    """Return the pages, each with the command that writes it."""
    from symscale.derivation.registry import entry

    return "\n".join(
        f"- [{plain(entry(name).title)}]({place(name)}){{ target=_blank }}<br>"
        f"`symscale show {name} --format html -o {place(name).rpartition('/')[2]}`"
        for name in IDS
    )


def place(name: str) -> str:
    """Return where the page of a derivation lies in the site."""
    return f"live/{name.replace('/', '-')}.html"
