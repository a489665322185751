"""What an interval says of a claim, and when it may say anything."""

from typing import Literal, NamedTuple

import numpy as np

from soar_il.report.results import Pair, Study
from soar_il.statistics.intervals import FEWEST, Interval

Verdict = Literal["supported", "not supported", "undecided"]


class Finding(NamedTuple):
    """What the results say of a claim."""

    claim: str
    about: str
    measure: str
    interval: Interval
    verdict: Verdict
    runs: int
    note: str = ""


def above(interval: Interval, bar: float = 0.0) -> Verdict:
    """Whether the quantity is above the bar."""
    if not interval.low <= interval.high:
        return "undecided"
    if interval.low > bar:
        return "supported"
    return "not supported" if interval.high <= bar else "undecided"


def below(interval: Interval, bar: float) -> Verdict:
    return above(Interval(*(-np.asarray([interval.value, interval.high, interval.low]))), -bar)


def within(interval: Interval, margin: float) -> Verdict:
    """Whether the quantity is between minus and plus the margin."""
    if not interval.low <= interval.high:
        return "undecided"
    if -margin < interval.low and interval.high < margin:
        return "supported"
    outside = interval.low >= margin or interval.high <= -margin
    return "not supported" if outside else "undecided"


def honest(finding: Finding, pairs: list[Pair], study: Study) -> Finding:
    """Runs without a partner decide nothing."""
    where = {(r.env, r.base) for p in pairs for r in p.ours}
    left_out = sum(p.unpaired for p in pairs)
    short = {len(p.ours) for p in pairs}
    if left_out or len(short) > 1:
        note = f"{left_out} run(s) have no partner of the same seed"
        finding = finding._replace(verdict="undecided", note=note)
    return counted(finding, where, study)


def counted(finding: Finding, where: set[tuple[str, str]], study: Study) -> Finding:
    """Missing runs and few seeds are said, and decide nothing."""
    gone = [m for m in study.missing if (m.env, m.base) in where]
    notes = [finding.note] if finding.note else []
    if gone:
        notes.append(f"{len(gone)} run(s) missing: {', '.join(m.name for m in gone[:3])}")
    if finding.runs < FEWEST:
        notes.append(f"{finding.runs} seed(s), no interval below {FEWEST}")
    decided = finding.verdict if not gone and finding.runs >= FEWEST else "undecided"
    return finding._replace(verdict=decided, note="; ".join(notes))
