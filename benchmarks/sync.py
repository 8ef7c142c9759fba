"""Documents of 200 pages with 300 blocks, over many derivations, options and chips: how long `symscale sync` takes.

    python benchmarks/sync.py [--keep FILE.tex]

A paper has several blocks of a derivation; the worst document has each block of another one, half of them on chips of
their own. Each figure is a whole process from its start: seconds by the clock, and of all processors together, which is
what counts on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from symscale.derivation.registry import ids
from symscale.errors import SymscaleError
from symscale.paper.many import Wish
from symscale.paper.pieces import find
from symscale.paper.request import read_request

BLOCKS = 300
PAGES = 200
LINES = 30  # of a page
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


def sentences(derivations: int) -> list[str]:
    """Return what the blocks ask for: of each derivation in turn the next piece that it has."""
    every = ids()
    names = [every[at * 7 % len(every)] for at in range(derivations)]
    found: list[str] = []
    at = 0
    while len(found) < BLOCKS:
        name, chip = names[at % derivations], CHIPS[at % len(CHIPS)]
        start = at % derivations + at // derivations  # the next round begins with another piece
        for turn in range(len(PIECES)):
            sentence = f"{name} {PIECES[(start + turn) % len(PIECES)].format(chip=chip)}"
            if sentence not in found and there_is(sentence):
                found.append(sentence)
                break
        at += 1
    return found


def there_is(sentence: str) -> bool:
    try:
        find(read_request(sentence))
    except SymscaleError:
        return False
    return True


def paper(asked: list[str]) -> str:
    """Return a LaTeX document with a block for each sentence, evenly between lines of prose."""
    lines = PAGES * LINES // len(asked)
    body = "".join(f"{PROSE * lines}% symscale: {each}\n% end symscale\n\n" for each in asked)
    return f"\\documentclass{{article}}\n\\usepackage{{amsmath}}\n\\begin{{document}}\n{body}\\end{{document}}\n"


def timed(*words: str) -> str:
    start, before = time.perf_counter(), used()
    subprocess.run(
        [sys.executable, "-m", "symscale", *words], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return f"{time.perf_counter() - start:5.2f} s, of processors {used() - before:5.2f} s"


def used() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--keep", metavar="FILE.tex", help="write the worst document there as well")
    keep = reader.parse_args().keep
    print(f"import sympy: {timed_import()}; {os.cpu_count()} cores")
    for title, derivations in (("paper", 100), ("worst", BLOCKS)):
        asked = sentences(derivations)
        written = len({Wish(each, "latex", Path()).derivation for each in asked})
        text = paper(asked)
        print(
            f"{title}: {len(text) / 1000:.0f} kB, {len(asked)} blocks, {derivations} derivations, {written} with chips"
        )
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "paper.tex"
            file.write_text(text, encoding="utf-8")
            for words in (("sync",), ("sync", "--check"), ("sync", "--check", "--workers", "1")):
                print(f"  symscale {' '.join(words):<26} {timed(*words, str(file))}")
        if keep:
            Path(keep).write_text(text, encoding="utf-8")


def timed_import() -> str:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import sympy"], check=True)
    return f"{time.perf_counter() - start:.2f} s"


if __name__ == "__main__":
    main()
