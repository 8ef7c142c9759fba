"""A document of 200 pages with 300 blocks over many derivations, options and chips: how long `symscale sync` takes.

    python benchmarks/sync.py [--keep FILE.tex]

Each figure is a whole process from its start. The document is made of the library, so that it grows with it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from symscale.derivation.registry import blackboard, ids
from symscale.errors import SymscaleError
from symscale.paper.pieces import find
from symscale.paper.request import read_request

BLOCKS = 300
PAGES = 200
LINES = 48  # of a page
CHIPS = ("tpu-v5e", "tpu-v5p", "tpu-v6e", "h100")
PIECES = (
    "claim",
    "value on={chip}",
    "step 2",
    "claim form=number on={chip}",
    "value digits=3",
    "derivation detail=compact",
    "claim env=align numbered=yes",
    "table",
)
PROSE = "The quick brown fox jumps over the lazy dog, and $x$ is what it is in all cases that matter here.\n"


def sentences() -> list[str]:
    """Return what the blocks ask for: every derivation in turn with the next piece that it has."""
    found: list[str] = []
    every = ids()
    at = 0
    while len(found) < BLOCKS:
        name = every[at * 7 % len(every)]
        for turn in range(len(PIECES)):
            piece = PIECES[(at + turn) % len(PIECES)].format(chip=CHIPS[at % len(CHIPS)])
            sentence = f"{name} {piece}"
            try:
                find(read_request(sentence))
            except SymscaleError:
                continue
            if sentence not in found:
                found.append(sentence)
                break
        at += 1
    return found


def paper(asked: list[str]) -> str:
    """Return a LaTeX document with a block for each sentence, evenly between lines of prose."""
    lines = PAGES * LINES // len(asked)
    body = "".join(f"{PROSE * lines}% symscale: {each}\n% end symscale\n\n" for each in asked)
    return f"\\documentclass{{article}}\n\\usepackage{{amsmath}}\n\\begin{{document}}\n{body}\\end{{document}}\n"


def timed(*words: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "symscale", *words], check=False, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--keep", metavar="FILE.tex", help="write the document there as well")
    keep = reader.parse_args().keep
    asked = sentences()
    text = paper(asked)
    blackboard.cache_clear()
    derivations = len({each.split()[0] for each in asked})
    print(f"{len(text) / 1000:.0f} kB, {len(asked)} blocks, {derivations} derivations, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "paper.tex"
        file.write_text(text, encoding="utf-8")
        if keep:
            Path(keep).write_text(text, encoding="utf-8")
        for words in (("sync",), ("sync", "--check"), ("sync", "--check", "--workers", "1")):
            print(f"symscale {' '.join(words)}: {timed(*words, str(file)):.2f} s")


if __name__ == "__main__":
    main()
