"""The command ``soar``."""

import os
import signal
import sys
from collections.abc import Callable
from importlib import metadata
from types import FrameType
from typing import Any

import tyro

from soar_il.commands import (
    audit,
    bonus,
    demos,
    doctor,
    evaluation,
    experts,
    export,
    pack,
    report,
    resume,
    settings,
    sweep,
    tabular,
    train,
    video,
)
from soar_il.errors import SoarError
from soar_il.terminal.progress import console, errors

ABOUT = "Imitation learning with soft optimistic actor-critics. `soar --version` says which."
Commands = dict[str, Callable[..., None]]

COMMANDS: Commands = {
    "train": train.train,
    "resume": resume.resume,
    "eval": evaluation.evaluate,
    "export": export.export,
    "fingerprint": resume.fingerprint,
    "settings": settings.settings,
    "doctor": doctor.doctor,
    "audit": audit.audit,
    "bonus": bonus.bonus,
    "sweep": sweep.sweep,
    "report": report.report,
    "pack": pack.pack,
    "video": video.video,
    "tabular": tabular.tabular,
    "regret": tabular.regret,
}

GROUPS: dict[str, tuple[str, Commands]] = {
    "demos": (
        "Demonstrations: what there is, what is in it, whether it fits, other formats.",
        {
            "list": demos.list_,
            "info": demos.info,
            "check": demos.check,
            "convert": demos.convert,
            "record": demos.record,
        },
    ),
    "expert": (
        "Experts: policies trained on the true reward.",
        {
            "train": experts.train,
            "keep": experts.keep,
            "table": experts.table,
            "curves": experts.curves,
        },
    ),
}


class Terminated(KeyboardInterrupt):
    """SIGTERM: like Ctrl-C, what is done is kept."""


def main() -> None:
    """Run a sub-command; 2 for an error of the user's, 130 after Ctrl-C, 143 after SIGTERM."""
    signal.signal(signal.SIGTERM, _terminate)
    if os.getcwd() not in sys.path:  # --env reach2d:Reach2D-v0 is reach2d.py of this folder
        sys.path.append(os.getcwd())
    try:
        _dispatch(sys.argv[1:])
        sys.stdout.flush()
    except SoarError as error:
        errors.print(f"[bold red]error[/] {rich_safe(str(error))}", soft_wrap=True)
        sys.exit(2)
    except BrokenPipeError:  # whoever read the output, such as head, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except KeyboardInterrupt as stop:
        _leave(143 if isinstance(stop, Terminated) else 130, str(stop))


def _leave(code: int, said: str) -> None:
    """End at once: where JAX is compiling in a thread, the interpreter's own end may crash."""
    errors.print(said or "stopped", soft_wrap=True, markup=False)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    if "jax" in sys.modules:
        os._exit(code)
    sys.exit(code)


def _dispatch(arguments: list[str]) -> None:
    console.quiet = False
    if arguments == ["--version"]:
        print(f"soar-il {metadata.version('soar-il')}")
        return
    text, commands = ABOUT, COMMANDS | {name: _shown(group[0]) for name, group in GROUPS.items()}
    prog = "soar"
    if arguments and arguments[0] in GROUPS:
        prog, (text, commands) = f"soar {arguments[0]}", GROUPS[arguments[0]]
        arguments = arguments[1:]
    tyro.extras.subcommand_cli_from_dict(commands, prog=prog, description=text, args=arguments)


def _shown(text: str) -> Callable[..., None]:
    """How a group looks in the list of commands; it is dispatched before it could be called."""

    def group() -> None:
        raise AssertionError("a group is not a command")

    group.__doc__ = text
    return group


def rich_safe(text: str) -> str:
    """Square brackets that are part of a message, not colours."""
    return text.replace("[", "\\[")


def _terminate(number: int, frame: FrameType | None) -> Any:
    raise Terminated
