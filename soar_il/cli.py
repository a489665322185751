"""The command ``soar``."""

import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import tyro

from soar_il.commands import deep, tabular
from soar_il.errors import SoarError
from soar_il.report.progress import console

COMMANDS: dict[str, Callable[..., None]] = {
    "train": deep.train,
    "resume": deep.resume,
    "eval": deep.evaluate,
    "fingerprint": deep.fingerprint,
    "tabular": tabular.tabular,
    "regret": tabular.regret,
}


class Terminated(KeyboardInterrupt):
    """SIGTERM: like Ctrl-C, what is done is kept."""


def main() -> None:
    """Run a sub-command; 2 for an error of the user's, 130 after Ctrl-C, 143 after SIGTERM."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        tyro.extras.subcommand_cli_from_dict(
            COMMANDS,
            prog="soar",
            description="Imitation learning with soft optimistic actor-critics.",
        )
    except SoarError as error:
        console.print(f"[bold red]error[/] {rich_safe(str(error))}", soft_wrap=True)
        sys.exit(2)
    except Terminated:
        sys.exit(143)
    except KeyboardInterrupt:
        sys.exit(130)


def rich_safe(text: str) -> str:
    """Square brackets that are part of a message, not colours."""
    return text.replace("[", "\\[")


def _terminate(number: int, frame: FrameType | None) -> Any:
    raise Terminated
