"""The command line: commands, nothing else. Each lives in a file of its own and imports what it needs when it runs."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence

import click

from symscale.cli.audit import audit
from symscale.cli.check import check, explain
from symscale.cli.compare import compare
from symscale.cli.completion import completion
from symscale.cli.coverage import coverage
from symscale.cli.derive import derive
from symscale.cli.hlo import hlo
from symscale.cli.library import list_, report, show
from symscale.cli.machines import machines
from symscale.cli.memory import memory
from symscale.cli.model import model
from symscale.cli.paper import bib, macros, sync
from symscale.cli.plan import plan
from symscale.cli.plot import plot
from symscale.cli.render import render
from symscale.cli.serve import serve
from symscale.cli.solve import solve
from symscale.cli.teach import exercise, exercises, grade, quiz

OK, WRONG, USAGE = 0, 1, 2
DEBUG = "SYMSCALE_DEBUG"


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="symscale")
def cli() -> None:
    """Derive closed forms of LLM scaling maths from one line of sharded notation.

    \b
    symscale derive "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]" --solve B --on tpu-v5p
    symscale solve "2*B*D*F/C >= b*(B*D + D*F + B*F)/W_hbm" --for B
    symscale compare "A[I, J_X] * B[J_X, K] -> C[I, K]" "A[I, J] * B[J, K] -> C[I, K]" --solve J
    symscale machines tpu-v5p
    symscale list
    symscale check training/fsdp "B/X > C/W"
    symscale exercise training/tp --vary 7
    """


for command in (
    derive,
    solve,
    compare,
    machines,
    model,
    memory,
    plan,
    serve,
    hlo,
    list_,
    show,
    plot,
    report,
    coverage,
    check,
    explain,
    audit,
    exercises,
    exercise,
    quiz,
    grade,
    render,
    sync,
    macros,
    bib,
    completion,
):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; every error is one paragraph on stderr and exit code 2."""
    # A command is short: rare collections of garbage save a tenth of its time.
    gc.set_threshold(200_000, 20, 100)
    # What sympy forgets after a thousand others it computes again; to keep all of it takes a few megabytes.
    os.environ.setdefault("SYMPY_CACHE_SIZE", "None")
    for name in ("SIGTERM", "SIGHUP"):
        ends = getattr(signal, name, None)
        # whoever ignores a hangup goes on doing so: nohup
        if ends is not None and signal.getsignal(ends) is signal.SIG_DFL:
            signal.signal(ends, signal.default_int_handler)
    try:
        code = run(arguments)
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        fault = f"{type(error).__name__}: {error}".split("\n", 1)[0][:200]
        complain(f"this is a fault of symscale, not of the input ({fault}).\nPlease report it; {DEBUG}=1 shows where.")
        code = USAGE
    sys.exit(code)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 is well, 1 a wrong or stale answer, 2 an input that cannot be read."""
    from symscale.errors import StepError, SymscaleError

    try:
        code = cli.main(args=arguments, prog_name="symscale", standalone_mode=False)
        return code if isinstance(code, int) else OK
    except StepError as error:
        complain(str(error))
        return WRONG
    except SymscaleError as error:
        complain(str(error) if error.hint else f"{error}\n{way_out(arguments)}")
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
    except click.ClickException as error:
        complain(f"{error.format_message()}\n{way_out(arguments)}")
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted; every file is as it was, or complete.")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except RecursionError:
        complain("the input is nested too deeply to read. Name parts of it.")
    except MemoryError:
        complain("the input needs more memory than there is. Ask for less at once.")
    return USAGE


def way_out(arguments: Sequence[str] | None) -> str:
    """Return where to look for what would be right, for an error that does not say so itself."""
    words = sys.argv[1:] if arguments is None else arguments
    name = next((word for word in words if word in cli.commands), "")
    return f"`{' '.join(filter(None, ('symscale', name, '--help')))}` shows examples."


def complain(message: str) -> None:
    """Print an error without the characters that would steer a terminal."""
    shown = "".join(each if each.isprintable() or each == "\n" else "\N{REPLACEMENT CHARACTER}" for each in message)
    click.echo(f"symscale: {shown}", err=True)
