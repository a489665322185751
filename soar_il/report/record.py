"""One finished run as far as a report reads it, from its own folder or from a packed one."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from soar_il import files
from soar_il.errors import StorageError
from soar_il.evaluation import bonus, times
from soar_il.report.results import Seen
from soar_il.runs import log, origin

SEEN = ("cost_gap", "q_spread", "clipped")  # of what the learner saw of itself
BONUS = ("spread_share", "gradient_share", "visits")  # of what `soar bonus` measured at the end
SCORES = (  # an evaluation's columns: true returns, which no learner saw
    "steps",
    "seconds",
    "return",
    "return_std",
    "stochastic_return",
    "stochastic_return_std",
    "length",
    "episodes",
)
BEGUN = ("metrics.jsonl", "scores.jsonl")


class Record(NamedTuple):
    """Its settings, its evaluations by column, and means of what it saw of itself."""

    place: str
    settings: dict[str, Any]
    scores: dict[str, np.ndarray]
    seen: dict[str, Seen]
    about: dict[str, Any]
    expert_return: float | None = None
    why: str = ""  # there is nothing to report

    @property
    def seconds(self) -> np.ndarray | None:
        """Of the processor, that learning had taken at each evaluation; None where not kept."""
        return None if np.isnan(self.scores["seconds"]).all() else self.scores["seconds"]


def of(place: Path) -> Record:
    """What lies in the folder of a run that is done."""
    settings = origin.read_settings(place)
    metrics, scores = (log.read(place / name) for name in BEGUN)
    last = metrics[-1]["k"] if metrics else 0  # a run of no steps has the policy it began with
    why = ""
    if not scores or scores[-1]["k"] != last:
        why = "its last policy was not evaluated"
    columns = {name: column(scores, name) for name in SCORES}
    seconds = times.seconds_at(place, columns["steps"])
    columns["seconds"] = np.full(len(scores), np.nan) if seconds is None else seconds
    seen = {name: summed(column(metrics, name)) for name in SEEN}
    measured = bonus.read(place)
    seen |= {name: Seen(np.nan, measured.get(name, np.nan)) for name in BONUS}
    about = {} if why else origin.read_provenance(place)
    return Record(str(place), settings, columns, seen, about, _expert_return(place), why)


def column(records: list[dict[str, Any]], name: str) -> np.ndarray:
    """NaN where a record lacks it, or had no number."""
    return np.array(
        [np.nan if record.get(name) is None else record[name] for record in records], float
    )


def summed(series: np.ndarray) -> Seen:
    """The means over all of training and over its last tenth, NaN where nothing is known."""
    return Seen(_mean(series), _mean(series[-max(1, len(series) // 10) :]))


def _mean(series: np.ndarray) -> float:
    known = series[np.isfinite(series)]
    return float(known.mean()) if len(known) else float("nan")


def _expert_return(place: Path) -> float | None:
    """What the run's demonstrations say of their expert."""
    try:
        said = files.read_json(place / origin.MANIFEST)["about"].get("expert_return")
    except (StorageError, KeyError, AttributeError, TypeError):
        return None
    return float(said) if isinstance(said, int | float) else None
