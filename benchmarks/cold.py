"""Cold commands against `import sympy`, each in a fresh interpreter, side by side."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

MIXED = "In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]"
COMMANDS = {
    "show": (["show", "training/fsdp"], 2.0),
    "derive": (
        ["derive", "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]", "--solve", "B", "--on", "tpu-v5p"],
        4.0,
    ),
    "derive, largest": (
        ["derive", MIXED, "--axes", "X=M_X,Y=M_Y", "--minimize", "X", "--subject-to", "X*Y = N", "--solve", "B"],
        4.0,
    ),
}


def seconds(command: list[str]) -> float:
    """Run a command and return its wall time [s]. A failure stops the benchmark."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def main(rounds: int = 9) -> None:
    """Print the ratio of every command to the baseline, by medians of interleaved runs."""
    python = [sys.executable]
    commands = {"import sympy": [*python, "-c", "import sympy"]}
    commands |= {name: [*python, "-m", "symscale", *arguments] for name, (arguments, _) in COMMANDS.items()}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for command in commands.values():
        seconds(command)
    for _ in range(rounds):
        for name, command in commands.items():
            times[name].append(seconds(command))
    base = statistics.median(times["import sympy"])
    print(f"import sympy: {base:.3f} s")
    for name, (_, aim) in COMMANDS.items():
        print(f"{name}: {statistics.median(times[name]) / base:.2f} × import sympy (aim: at most {aim:.0f} ×)")


if __name__ == "__main__":
    main()
