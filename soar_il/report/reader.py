"""From directories of runs to what a report is made of; nothing is left out without a word."""

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from soar_il import files
from soar_il.config import package_toml
from soar_il.errors import ConfigError
from soar_il.evaluation import times
from soar_il.experts import sac
from soar_il.report import arms, references
from soar_il.report.results import Expert, Missing, Purpose, Result, Study, checked, labelled
from soar_il.runs import log, origin, plans
from soar_il.seal import unsealed
from soar_il.sweep import book, folder

Found = Result | Missing | Expert | dict[str, Any]
SEEN = ("cost_gap", "q_spread", "clipped")  # of what the learner saw of itself


def read(places: Sequence[Path], expert_returns: dict[str, float] | None = None) -> Study:
    """Sweeps' folders or files, runs, or folders with runs somewhere in them."""
    found: list[Found] = []
    titles: list[str] = []
    asked: list[dict[str, Any]] = []
    for place in places:
        books = _books(place)
        seen: set[str] = set()  # figures that share a folder share its runs
        for path in books:
            said = book.read(path)
            titles.append(said["title"])
            asked += [_asked(said, job) for job in said["jobs"] if job["settings"]]
            jobs = [job for job in said["jobs"] if job["name"] not in seen]
            seen |= {job["name"] for job in jobs}
            found += _swept(path.parent, said, jobs)
        if not books:
            titles.append(str(place))
            found += _loose(place)
    if not found and not asked:
        where = ", ".join(map(str, places))
        raise ConfigError("there is no run here", where, "give the folder of a sweep or a run")
    study = Study(
        tuple(x for x in found if isinstance(x, Result)),
        tuple(x for x in found if isinstance(x, Missing)),
        tuple(titles),
        tuple(x for x in found if isinstance(x, dict)),
        tuple(x for x in found if isinstance(x, Expert)),
        tuple(asked),
    )
    known = references.find(study.results, root(places[0]), expert_returns or {})
    scaled = [dataclasses.replace(r, normal=known[r.env].scaled(r.returns)) for r in study.results]
    return checked(labelled(study._replace(results=tuple(scaled), references=known)))


def root(place: Path) -> Path:
    """The folder that a sweep's file or a folder stands for."""
    return place.parent if place.is_file() else place


def beside(places: Sequence[Path]) -> Path:
    """Where a report goes: with the runs, so that another sweep's does not take its place."""
    first = places[0]
    if len(places) > 1:
        names = [place.name.removesuffix(book.SUFFIX) for place in places]
        return root(first).parent / f"report-{'-'.join(names)}"
    if first.is_file() and len(book.found(first.parent)) > 1:  # figures that share their runs
        return first.parent / f"report-{first.name.removesuffix(book.SUFFIX)}"
    return root(first) / "report"


def _asked(said: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    """A job's settings, and its steps where the settings themselves are the result."""
    steps = {} if said["trained"] else {"steps": job["options"].get("steps", "-")}
    return steps | job["settings"]


def _books(place: Path) -> list[Path]:
    if place.is_file() and place.name.endswith(book.SUFFIX):
        return [place]
    if not place.is_dir():
        do = f"give the folder of a sweep or a run, or a sweep's {book.SUFFIX}"
        raise ConfigError("is neither a folder nor a sweep", str(place), do)
    return book.found(place)


def _swept(where: Path, said: dict[str, Any], jobs: list[dict[str, Any]]) -> Iterator[Found]:
    """What became of each job; what it is called follows from its options, never its folder."""
    for job in jobs if said["trained"] else ():
        name, options, place = job["name"], job["options"], where / job["name"]
        study = place / "ablation.json"
        if (place / "done.json").exists() and (place / "config.json").exists():
            yield run(place, name, said["purpose"], options)
        elif study.exists():
            yield files.read_json(study)
        elif "env" not in options:
            yield Missing(name, "", said["command"], said["command"], _why(place))
        else:
            settings = job["settings"] or {}  # none where this version does not know the method
            base = str(options.get("base", sac.NAME))
            gone = _missing(name, {"env": options["env"], "base": base, **settings}, options)
            yield gone._replace(why=_why(place), purpose=said["purpose"])


def _why(place: Path) -> str:
    """Why a job's run is not there."""
    problem = folder.problem(place)
    if problem:
        return f"failed: {problem.strip().splitlines()[-1]}"
    return "begun, not done" if (place / "metrics.jsonl").exists() else "not begun"


def _loose(where: Path) -> Iterator[Found]:
    """Runs that no sweep speaks of: whoever started them says with plan.json how long they are."""
    for path in sorted(where.rglob("ablation.json")):
        yield files.read_json(path)
    for path in sorted(where.rglob("config.json")):
        place = path.parent
        plan = unsealed(place / plans.NAME) if (place / plans.NAME).exists() else {}
        settings = origin.read_settings(place)
        metrics, scores = log.read(place / "metrics.jsonl"), log.read(place / "scores.jsonl")
        reached = metrics[-1]["steps"] if metrics else 0
        if reached < plan.get("steps", 0) or not (metrics or scores):
            yield _missing(str(place), settings, arms.flat(settings))
        else:
            yield run(place, str(place), "report", arms.flat(settings))


def _missing(name: str, settings: dict[str, Any], options: dict[str, Any]) -> Missing:
    critics = settings.get("learner", {}).get("critics", options.get("critics", 1))
    return Missing(
        name,
        settings["env"],
        settings["base"],
        arms.label(settings["base"], critics),
        "begun, not done",
        critics,
        int(settings.get("seed", options.get("seed", 0))),
        options=arms.options_of(options),
        settings=settings,
    )


def run(
    place: Path, name: str, purpose: Purpose, options: dict[str, Any]
) -> Result | Missing | Expert:
    """One finished run."""
    settings = origin.read_settings(place)
    env, base, learner = settings["env"], settings["base"], settings["learner"]
    scores, metrics = log.read(place / "scores.jsonl"), log.read(place / "metrics.jsonl")
    last = metrics[-1]["k"] if metrics else 0  # a run of no steps has the policy it began with
    if not scores or scores[-1]["k"] != last:
        gone = _missing(name, settings, options)
        return gone._replace(why="its last policy was not evaluated", purpose=purpose)
    if base == sac.NAME:
        end, paper = scores[-1], package_toml("experts/paper.toml").get(env)
        spread = end["return_std"]
        return Expert(env, settings["seed"], end["steps"], end["return"], spread, paper)
    steps = _column(scores, "steps")
    return Result(
        place=str(place),
        env=env,
        base=base,
        critics=learner["critics"],
        sigma=learner["sigma"],
        demonstrations=settings["demonstrations"],
        seed=settings["seed"],
        purpose=purpose,
        label=arms.label(base, learner["critics"]),
        steps=steps,
        returns=_column(scores, "return"),
        spreads=_column(scores, "return_std"),
        noisy=_column(scores, "stochastic_return"),
        normal=None,
        seen={name: _column(metrics, name) for name in SEEN},
        seconds=times.seconds_at(place, steps),
        options=arms.options_of(options),
        settings=settings,
        about=origin.read_provenance(place),
    )


def _column(records: list[dict[str, Any]], name: str) -> np.ndarray:
    """NaN where a record lacks it, or had no number."""
    return np.array(
        [np.nan if record.get(name) is None else record[name] for record in records], float
    )
