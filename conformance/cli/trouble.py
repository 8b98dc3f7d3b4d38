"""Turns whatever goes wrong into one clear sentence and the right exit status."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from typing import Any

import click

from conformance.verdict import INTERRUPTED, SUITE_FAILED, WRONG_USAGE

DEBUG_VARIABLE = "CONFORMANCE_DEBUG"


class Trouble(Exception):
    """A failure of the suite or its surroundings, said in one sentence."""


def guarded(cli: click.Command, arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    try:
        result: Any = cli.main(args=arguments, prog_name="conformance", standalone_mode=False)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.UsageError as error:
        error.show()
        return WRONG_USAGE
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return WRONG_USAGE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return SUITE_FAILED
    except Exception as error:
        print(f"conformance: {_sentence(error)}", file=sys.stderr)
        if os.environ.get(DEBUG_VARIABLE):
            traceback.print_exc()
        elif not isinstance(error, Trouble | OSError):
            print(f"(set {DEBUG_VARIABLE}=1 to see where)", file=sys.stderr)
        return SUITE_FAILED
    return result if isinstance(result, int) else 0


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return f"the disk is full: {error}"
    return str(error) or type(error).__name__
