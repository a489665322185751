"""How often a fact is tried: a few times in ``make test``, in full in ``make soak``.

``SOAK=0.1 make soak`` tries a tenth as often, and never less often than ``make test``.
"""

import os

import pytest

SCALE = float(os.environ.get("SOAK") or 1)


def counts(few, full):
    """Values of a parameter: ``few`` always, ``full`` under the marker ``soak``."""
    return [few, pytest.param(max(few, round(SCALE * full)), marks=pytest.mark.soak, id="soak")]


def cases(every, few):
    """Values of a parameter, of which all but ``few`` are under the marker ``soak``."""
    return [case if case in few else pytest.param(case, marks=pytest.mark.soak) for case in every]
