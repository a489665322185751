"""What long work is busy with before there are steps to count: loading, cloning, compiling.

Whoever works says it with ``phase``; whoever wants to know listens with ``heard_by``. Nothing is
handed back, and without a listener nothing happens.
"""

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path

from soar_il.terminal.progress import console

Listener = Callable[[str], None]
NAME = "phase.txt"  # in a run's folder, until its first iteration is done

_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("listeners", default=())


def phase(text: str) -> None:
    """This is what happens from now on."""
    for listener in _listeners.get():
        listener(text)


@contextlib.contextmanager
def heard_by(*listeners: Listener) -> Iterator[None]:
    """These are told what happens inside, and nobody else."""
    before = _listeners.set(listeners)
    try:
        yield
    finally:
        _listeners.reset(before)


def noted(folder: Path) -> Listener:
    """Kept in a run's folder, where there is one already, for who watches from outside."""

    def note(text: str) -> None:
        with contextlib.suppress(OSError):  # a note is worth no failure
            if folder.is_dir():
                (folder / NAME).write_text(text, encoding="utf-8")

    return note


def read(folder: Path) -> str:
    """What was noted last; "" where nothing is."""
    try:
        return (folder / NAME).read_text(encoding="utf-8")
    except OSError:
        return ""


@contextlib.contextmanager
def shown() -> Iterator[Listener]:
    """A line that changes on a terminal, a line each where there is none."""
    if not console.is_terminal:
        yield lambda text: console.print(text, markup=False, soft_wrap=True)
        return
    with console.status("") as status:
        yield lambda text: status.update(text)
