"""The command line: `conformance COMMAND`, one module per command.

Exit statuses are pytest's: 0 conformant, 1 non-conformant, 2 interrupted, 3 the suite failed, 4 wrong usage,
5 not enough was judged.
"""

from __future__ import annotations

import importlib
import sys

import click

import conformance
from conformance.cli.trouble import guarded

# command: (module, attribute)
COMMANDS = {
    "run": ("run", "command"),
    "fleet": ("fleet", "command"),
    "plan": ("plan", "command"),
    "probe": ("probe", "command"),
    "judge": ("judge", "command"),
    "list": ("listing", "command"),
    "explain": ("explain", "command"),
    "replay": ("replay", "command"),
    "report": ("report", "command"),
    "diff": ("compare", "diff"),
    "matrix": ("compare", "matrix"),
    "history": ("compare", "history"),
    "merge": ("merge", "command"),
    "diagnose": ("diagnose", "command"),
    "certify": ("certificate", "certify"),
    "verify": ("certificate", "verify"),
    "keygen": ("certificate", "keygen"),
    "prove": ("prove", "command"),
    "spec": ("specification", "command"),
    "init": ("init", "command"),
}


class Commands(click.Group):
    """Imports a command's module only when it is called: `--help` of one must not load torch or schemathesis."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, in the order in which people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of that name."""
        if name not in COMMANDS:
            return None
        module, attribute = COMMANDS[name]
        command: click.Command = getattr(importlib.import_module(f"conformance.cli.{module}"), attribute)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(conformance.__version__, prog_name="conformance")
def cli() -> None:
    """Certify a chat-completions endpoint against its vendor's own API document."""


def main() -> None:
    """Entry point: usage errors end with 4, interrupts with 2, failures of the suite with 3, never a traceback."""
    sys.exit(guarded(cli))
