"""How often a fact is tried: a few times in ``make test``, in full in ``make soak``.

``make soak SOAK=0.1`` tries a tenth as often, and never less often than ``make test``.
"""

import os

import pytest

SCALE = float(os.environ.get("SOAK") or 1)


def times(full, few=1):
    """How often ``make soak`` tries what is worth trying ``full`` times."""
    return max(few, round(SCALE * full))


def param(*values, **more):
    """Values of parameters that only ``make soak`` tries."""
    return pytest.param(*values, marks=pytest.mark.soak, **more)


def some(values):
    """Of these ``make soak`` tries all, with SOAK=0.1 a tenth, and never none."""
    share = min(1.0, SCALE)
    return [x for n, x in enumerate(values) if n == 0 or int(n * share) > int((n - 1) * share)]


def counts(few, full):
    """The values of one parameter: ``few`` always, ``full`` in ``make soak``."""
    return [few, param(times(full, few), id="soak")]
