"""From directories of runs to what a report is made of; nothing is left out without a word."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from soar_il.config import package_toml
from soar_il.errors import ConfigError
from soar_il.evaluation.score import normalised
from soar_il.experts import sac
from soar_il.report.results import Expert, Missing, Result, Study, checked, label
from soar_il.runs import log
from soar_il.sweep import book

Found = Result | Missing | Expert | dict[str, Any]


def read(places: Sequence[Path]) -> Study:
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
    return checked(
        Study(
            tuple(x for x in found if isinstance(x, Result)),
            tuple(x for x in found if isinstance(x, Missing)),
            tuple(titles),
            tuple(x for x in found if isinstance(x, dict)),
            tuple(x for x in found if isinstance(x, Expert)),
            tuple(asked),
        )
    )


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


def _swept(folder: Path, said: dict[str, Any], jobs: list[dict[str, Any]]) -> Iterator[Found]:
    for job in jobs if said["trained"] else ():
        name, options = job["name"], job["options"]
        place = folder / name
        done = (place / "done.json").exists()
        if said["command"] == "tabular":
            table = place / "ablation.json"
            gone = Missing(name, "", "tabular", "tabular", "not done")
            yield json.loads(table.read_text()) if table.exists() else gone
            continue
        env, base = options["env"], options.get("base", sac.NAME)
        head = f"{base}-L{options['critics']}" if "critics" in options else base
        tail = name.rpartition("/")[2].rpartition("-seed")[0].removeprefix(head).strip("-")
        if done:
            yield run(place, name, said["purpose"], tail)
            continue
        why = "begun, not done" if (place / "metrics.jsonl").exists() else "not begun"
        yield Missing(name, env, base, label(base, options.get("critics", 1), tail), why)


def _loose(folder: Path) -> Iterator[Found]:
    """Runs that no sweep speaks of: whoever started them says with plan.json how long they are."""
    for path in sorted(folder.rglob("ablation.json")):
        yield json.loads(path.read_text())
    for path in sorted(folder.rglob("config.json")):
        place = path.parent
        try:
            plan = json.loads((place / "plan.json").read_text())
        except (OSError, ValueError):
            plan = {}
        settings = json.loads(path.read_text())
        reached = log.read(place / "metrics.jsonl")
        if not reached or reached[-1]["steps"] < plan.get("steps", 0):
            env, base = settings["env"], settings["base"]
            called = label(base, settings["learner"]["critics"], "")
            yield Missing(str(place), env, base, called, "begun, not done")
        else:
            yield run(place, str(place), "report", "")


def run(place: Path, name: str, purpose: Any, extra: str) -> Result | Missing | Expert:
    """One finished run."""
    settings = json.loads((place / "config.json").read_text())
    env, base, learner = settings["env"], settings["base"], settings["learner"]
    scores, metrics = log.read(place / "scores.jsonl"), log.read(place / "metrics.jsonl")
    if not scores or scores[-1]["k"] != metrics[-1]["k"]:
        called = label(base, learner["critics"], extra)
        return Missing(name, env, base, called, "its last policy was not evaluated")
    returns = np.array([record["return"] for record in scores])
    if base == sac.NAME:
        last, paper = scores[-1], package_toml("experts/paper.toml").get(env)
        spread = last["return_std"]
        return Expert(env, settings["seed"], last["steps"], last["return"], spread, paper)
    known = [normalised(env, float(value)) for value in returns]
    gaps = [r["cost_gap"] for r in metrics[-max(1, len(metrics) // 10) :] if r.get("cost_gap")]
    return Result(
        place=str(place),
        env=env,
        base=base,
        critics=learner["critics"],
        extra=extra,
        sigma=learner["sigma"],
        demonstrations=settings["demonstrations"],
        seed=settings["seed"],
        purpose=purpose,
        steps=np.array([record["steps"] for record in scores], float),
        returns=returns,
        spreads=np.array([record["return_std"] for record in scores]),
        noisy=np.array([record["stochastic_return"] for record in scores]),
        normal=None if None in known else np.array(known, float),
        gap=float(np.mean(gaps)) if gaps else float("nan"),
        settings=settings,
        about=json.loads((place / "provenance.json").read_text()),
    )
