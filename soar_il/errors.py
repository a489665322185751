"""Errors that say what is wrong, where, and what to do."""

import difflib
from collections.abc import Iterable


class SoarError(Exception):
    """Base of every error a user can cause or mend."""

    def __init__(self, what: str, where: str = "", do: str = "") -> None:
        self.what, self.where, self.do = what, where, do
        text = f"{where}: {what}" if where else what
        super().__init__(f"{text}\n  what to do: {do}" if do else text)


class MdpError(SoarError):
    """A tabular MDP, policy or expert data set that is not one."""


class DemoError(SoarError):
    """Demonstrations, or a file of them, that cannot be used as they are."""


class DemoWarning(UserWarning):
    """Demonstrations were changed on the way in, or look wrong."""


class ConfigError(SoarError):
    """A setting that is unknown, of the wrong type, or out of range."""


class StorageError(SoarError):
    """A file or folder that cannot be written or read, is damaged, or is in use."""


class EnvError(SoarError):
    """An environment that does not exist, does not fit, or misbehaves."""


class NonFiniteError(SoarError):
    """A loss or a weight that is no longer a number."""


def closest(name: str, known: Iterable[str], show: int | None = None) -> str:
    """A hint for a misspelt name: the nearest known one, then all of them (or ``show`` near)."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=show or 1, cutoff=0.6 if show is None else 0.3)
    listed = ", ".join(known if show is None else near)
    return f"did you mean {near[0]!r}? Known: {listed}" if near else f"choose one of: {listed}"
