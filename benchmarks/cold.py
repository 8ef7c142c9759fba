"""Cold commands against `import sympy`, each in a fresh interpreter, by CPU time.

python benchmarks/cold.py [rounds] [id ...]

`show` is measured for a few derivations and those that take longest, or for the ids given (`all`: every one). Times are
user and system time, the least of several rounds, with the baseline in every round. Bytecode is written and read, as
after the first run of any installed package: PYTHONDONTWRITEBYTECODE is ignored.
"""

from __future__ import annotations

import os
import subprocess
import sys

MIXED = "In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]"
DERIVE = {
    "derive": ["In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]", "--solve", "B", "--on", "tpu-v5p"],
    "derive, largest": [MIXED, "--axes", "X=M_X,Y=M_Y", "--minimize", "X", "--subject-to", "X*Y = N", "--solve", "B"],
}
SHOW = [
    "roofline/matmul",
    "sharding/two-chips",
    "sharding/replicate",
    "collectives/latency-two-axes",
    "training/fsdp",
    "training/mixed",
    "training/mixed-chips",
    "training/mixed-discriminant",
    "training/mixed-feasible-serial",
    "pipeline/zb-h2",
    "pipeline/interleaved",
]
SHOW_AIM, DERIVE_AIM = 2.0, 4.0
PYTHON = [sys.executable]
BASELINE = [*PYTHON, "-c", "import sympy"]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def seconds(command: list[str]) -> float:
    """Run a command and return its user and system time [s]. A failure stops the benchmark."""
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    process = os.posix_spawn(command[0], command, ENVIRONMENT, file_actions=silent)
    _, status, used = os.wait4(process, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed.")
    return used.ru_utime + used.ru_stime


def commands(ids: list[str]) -> dict[str, tuple[list[str], float]]:
    """Return what is measured by name: the command, and the largest ratio to the baseline that is aimed at."""
    run = [*PYTHON, "-m", "symscale"]
    found = {name: ([*run, "derive", *arguments], DERIVE_AIM) for name, arguments in DERIVE.items()}
    return {**{f"show {each}": ([*run, "show", each], SHOW_AIM) for each in ids}, **found}


def library() -> list[str]:
    """Return every id of the library."""
    listed = subprocess.run([*PYTHON, "-m", "symscale", "list"], check=True, capture_output=True, text=True).stdout
    return [line.split()[0] for line in listed.splitlines()]


def main(rounds: int = 7, ids: tuple[str, ...] = ()) -> None:
    """Print the ratio of every command to the baseline, the worst last."""
    measured = commands(library() if ids == ("all",) else list(ids or SHOW))
    least = dict.fromkeys(["", *measured], float("inf"))
    for _ in range(rounds + 1):  # the first round writes bytecode and fills the file cache; it is never the least
        for name in least:
            least[name] = min(least[name], seconds(measured[name][0] if name else BASELINE))
    print(f"import sympy: {least['']:.3f} s of CPU time, the least of {rounds + 1} rounds")
    ratios = {name: least[name] / least[""] for name in measured}
    for name in sorted(measured, key=ratios.__getitem__):
        aim = measured[name][1]
        print(f"{ratios[name]:.2f} × (aim: at most {aim:.0f} ×{'' if ratios[name] <= aim else ', MISSED'})  {name}")


if __name__ == "__main__":
    main(*([int(sys.argv[1])] if sys.argv[1:] else []), ids=tuple(sys.argv[2:]))
