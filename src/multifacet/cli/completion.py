"""``multifacet completion``: what makes a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from .command import Command


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that completes commands and options.

    \b
    bash  eval "$(multifacet completion bash)"
    zsh   eval "$(multifacet completion zsh)"
    fish  multifacet completion fish | source
    """  # noqa: D301 -- click keeps the lines after a backspace as they are
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "multifacet", "_MULTIFACET_COMPLETE").source())
