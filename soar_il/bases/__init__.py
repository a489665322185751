"""The table of base methods: one file and one line each."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

from soar_il.bases import csil, f_irl, ml_irl
from soar_il.bases.api import Base


class Entry(NamedTuple):
    """A method's settings and what they make."""

    settings: type
    make: Callable[[Any], Base]  # equal settings give the same object, so they share programs


BASES: dict[str, Entry] = {
    "ml-irl": Entry(ml_irl.Settings, cache(partial(ml_irl.make, state_only=True))),
    "ml-irl-sa": Entry(ml_irl.Settings, cache(partial(ml_irl.make, state_only=False))),
    "csil": Entry(csil.Settings, cache(csil.make)),
    "csil-plain": Entry(csil.Settings, cache(csil.plain)),
    "rkl": Entry(f_irl.Settings, cache(partial(f_irl.make, f="rkl"))),
    "fkl": Entry(f_irl.Settings, cache(partial(f_irl.make, f="fkl"))),
    "js": Entry(f_irl.Settings, cache(partial(f_irl.make, f="js"))),
}
