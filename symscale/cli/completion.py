"""`symscale completion`: the script that completes commands, options, chips and ids."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell")
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a SHELL: bash, zsh or fish.

    \b
    symscale completion bash >> ~/.bashrc
    symscale completion fish > ~/.config/fish/completions/symscale.fish
    """
    from click.shell_completion import get_completion_class

    from symscale.errors import SymscaleError

    found = get_completion_class(shell) if shell in SHELLS else None
    if found is None:
        raise SymscaleError(f"No completion for {shell[:40]!r}.", hint=f"Use one of {', '.join(SHELLS)}.")
    root = context.find_root().command
    script = found(root, {}, "symscale", "_SYMSCALE_COMPLETE")
    click.echo(script.source_template % script.source_vars())
