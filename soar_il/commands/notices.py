"""Warnings about demonstrations, as a command says them."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from rich.markup import escape

from soar_il.errors import DemoWarning
from soar_il.terminal.progress import console


@contextmanager
def warnings_printed(without: tuple[str, ...] = ()) -> Iterator[None]:
    """Each once; ``without`` are those that somebody else says."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DemoWarning)
        try:
            yield
        finally:
            said = [w for w in caught if issubclass(w.category, DemoWarning)]
            for warning in dict.fromkeys(str(w.message) for w in said):
                if not any(text in warning for text in without):
                    notice(warning)
    for other in caught:
        if other not in said:
            warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)


def notice(text: object) -> None:
    console.print(f"[yellow]notice[/] {escape(str(text))}", soft_wrap=True)
