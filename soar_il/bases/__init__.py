"""The table of base methods: one file and one line each."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

from soar_il.bases import (
    adril,
    airl,
    bc,
    csil,
    csil_plain,
    dac,
    f_irl,
    gaifo,
    gail,
    iq_learn,
    ls_iq,
    ml_irl,
    opt_ail,
    smiling,
    sqil,
)
from soar_il.bases.api import Base
from soar_il.bases.given import Given


class Entry(NamedTuple):
    """A method's settings and what they make."""

    settings: type[Any]
    make: Callable[[Any, Given], Base]  # what is equal gives one object, so runs share programs
    presets: str = ""  # the folder of its presets; empty where it has the method's own name


BASES: dict[str, Entry] = {
    "bc": Entry(bc.Settings, cache(bc.make)),
    "gail": Entry(gail.Settings, cache(gail.make)),
    "dac": Entry(dac.Settings, cache(dac.make)),
    "gaifo": Entry(gaifo.Settings, cache(gaifo.make)),
    "airl": Entry(airl.Settings, cache(airl.make)),
    "adril": Entry(adril.Settings, cache(adril.make)),
    "ml-irl": Entry(ml_irl.Settings, cache(partial(ml_irl.make, state_only=True))),
    "ml-irl-sa": Entry(ml_irl.Settings, cache(partial(ml_irl.make, state_only=False))),
    "csil": Entry(csil.Settings, cache(csil.make)),
    "csil-plain": Entry(csil_plain.Settings, cache(csil_plain.make)),
    "iq-learn": Entry(iq_learn.Settings, cache(iq_learn.make)),
    "ls-iq": Entry(ls_iq.Settings, cache(ls_iq.make)),
    "opt-ail": Entry(opt_ail.Settings, cache(partial(opt_ail.make, state_only=False))),
    "opt-ail-so": Entry(opt_ail.Settings, cache(partial(opt_ail.make, state_only=True))),
    "smiling": Entry(smiling.Settings, cache(smiling.make)),
    "sqil": Entry(sqil.Settings, cache(sqil.make)),
    "rkl": Entry(f_irl.Settings, cache(partial(f_irl.make, f="rkl")), presets="f-irl"),
    "fkl": Entry(f_irl.Settings, cache(partial(f_irl.make, f="fkl")), presets="f-irl"),
    "js": Entry(f_irl.Settings, cache(partial(f_irl.make, f="js")), presets="f-irl"),
}
