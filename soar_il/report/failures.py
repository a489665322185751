"""Runs that came out badly: a mean or a trimmed mean would hide them, so they are named."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from soar_il.report.results import Reference, Result, Study, cells, last_common, value_at

NEAR_RANDOM = 0.05  # of the way from random to the expert: nothing was learned
FAR = 0.2  # of the same way, or of the largest return where that is unknown
MADS = 3 * 1.4826  # median absolute deviations: three standard deviations of a normal
FEWEST_OTHERS = 2


class Failed(NamedTuple):
    """A run that ended near random, far below the other seeds of its arm or its own beginning."""

    env: str
    label: str
    seed: int
    value: float  # its return
    why: str


def failed(study: Study) -> list[Failed]:
    """Every such run, at the steps that all of its arm have reached."""
    found = []
    for (env, label, _), runs in cells(study.results).items():
        at = last_common(runs)
        returns = np.array([value_at(r, at, raw=True) for r in runs])
        firsts = np.array([r.returns[0] for r in runs])
        known = study.references.get(env, Reference(None, "", None, ""))
        for r, why in zip(runs, reasons(returns, firsts, known), strict=True):
            if why:
                found.append(Failed(env, label, r.seed, value_at(r, at, raw=True), why))
    return found


def reasons(returns: np.ndarray, firsts: np.ndarray, known: Reference) -> list[str]:
    """For each run of an arm what is wrong with its return, "" where nothing is.

    ``firsts`` are returns at the first evaluation, as of a clone that training began from.
    """
    scale = float(np.abs(returns).max())
    if known.random is not None:
        scale = abs((returns.max() if known.expert is None else known.expert) - known.random)
    return [_reason(returns, firsts, n, known, scale) for n in range(len(returns))]


def _reason(returns: np.ndarray, firsts: np.ndarray, n: int, known: Reference, scale: float) -> str:
    value, others = returns[n], np.delete(returns, n)
    if known.random is not None:
        room = 0.0 if known.expert is None else NEAR_RANDOM * scale
        if value <= known.random + room:
            hardly = "hardly" if room else "no"
            return f"{hardly} better than random play, {known.random:,.0f}"
    if value < firsts[n] - FAR * scale:
        return f"it began at {firsts[n]:,.0f}"
    if len(others) < FEWEST_OTHERS:
        return ""
    middle = float(np.median(others))
    room = max(MADS * float(np.median(np.abs(others - middle))), FAR * scale)
    return "" if value >= middle - room else f"the others are at {spoken(others)}"


def spoken(values: Sequence[float] | np.ndarray) -> str:
    """``3 to 5``."""
    low, high = (f"{x:,.0f}" for x in (np.min(values), np.max(values)))
    return low if low == high else f"{low} to {high}"


def of(runs: Sequence[Result], found: Sequence[Failed]) -> list[Failed]:
    """Those among these runs."""
    keys = {(r.env, r.label, r.seed) for r in runs}
    return [f for f in found if (f.env, f.label, f.seed) in keys]
