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


class ConfigError(SoarError):
    """A setting that is unknown, of the wrong type, or out of range."""


def closest(name: str, known: Iterable[str]) -> str:
    """A hint for a misspelt name: the nearest known one, then all of them."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1)
    listed = ", ".join(known)
    return f"did you mean {near[0]!r}? Known: {listed}" if near else f"choose one of: {listed}"
