"""From directories of runs to what a report is made of; nothing is left out without a word."""

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

from soar_il import files
from soar_il.config import flat, package_toml
from soar_il.errors import ConfigError
from soar_il.experts import sac
from soar_il.files import Fields
from soar_il.report import arms, packed, record, references
from soar_il.report.record import Record
from soar_il.report.results import Expert, Missing, Purpose, Result, Study, checked, labelled
from soar_il.runs import log, origin, plans
from soar_il.seal import unsealed
from soar_il.sweep import book

Found = Result | Missing | Expert | Fields


def read(places: Sequence[Path], expert_returns: dict[str, float] | None = None) -> Study:
    """Sweeps' folders or files, runs, or folders with runs somewhere in them."""
    found: list[Found] = []
    titles: list[str] = []
    asked: list[Fields] = []
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


def _asked(said: Fields, job: Fields) -> Fields:
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


def _swept(where: Path, said: Fields, jobs: list[Fields]) -> Iterator[Found]:
    """What became of each job; what it is called follows from its options, never its folder."""
    kept = packed.read(where)
    for job in jobs if said["trained"] else ():
        name, options, place = job["name"], job["options"], where / job["name"]
        study = place / "ablation.json"
        if kept is not None and name in kept and not kept[name].why:
            yield result(kept[name], name, said["purpose"], options)
        elif (place / "done.json").exists() and (place / "config.json").exists():
            yield result(record.of(place), name, said["purpose"], options)
        elif study.exists():
            yield files.read_json(study)
        else:
            why = kept[name].why if kept and name in kept else packed.unfinished(place)
            yield _gone(said, job, why)


def _gone(said: Fields, job: Fields, why: str) -> Missing:
    """A job that has no run."""
    name, options = job["name"], job["options"]
    if "env" not in options:
        return Missing(name, "", said["command"], said["command"], why)
    settings = job["settings"] or {}  # none where this version does not know the method
    base = str(options.get("base", sac.NAME))
    gone = _missing(name, {"env": options["env"], "base": base, **settings}, options)
    return gone._replace(why=why, purpose=said["purpose"])


def _loose(where: Path) -> Iterator[Found]:
    """Runs of no sweep; their plan.json says how many steps they were to take."""
    for path in sorted(where.rglob("ablation.json")):
        yield files.read_json(path)
    for path in sorted(where.rglob("config.json")):
        place = path.parent
        plan = unsealed(place / plans.NAME) if (place / plans.NAME).exists() else {}
        settings = origin.read_settings(place)
        metrics, scores = log.read(place / "metrics.jsonl"), log.read(place / "scores.jsonl")
        reached = metrics[-1]["steps"] if metrics else 0
        if reached < plan.get("steps", 0) or not (metrics or scores):
            yield _missing(str(place), settings, flat(settings))
        else:
            yield result(record.of(place), str(place), "report", flat(settings))


def _missing(name: str, settings: Fields, options: Fields) -> Missing:
    critics = settings.get("learner", {}).get("critics", options.get("critics", 1))
    return Missing(
        name,
        settings["env"],
        settings["base"],
        arms.label(settings["base"], critics),
        "begun, not done",
        critics,
        int(settings.get("seed") or options.get("seed") or 0),
        options=arms.options_of(options),
        settings=settings,
    )


def result(one: Record, name: str, purpose: Purpose, options: Fields) -> Result | Missing | Expert:
    """One finished run."""
    settings = one.settings
    env, base, learner, scores = settings["env"], settings["base"], settings["learner"], one.scores
    if one.why:
        return _missing(name, settings, options)._replace(why=one.why, purpose=purpose)
    if base == sac.NAME:
        paper = package_toml("experts/paper.toml").get(env)
        steps, mean, spread = (float(scores[n][-1]) for n in ("steps", "return", "return_std"))
        return Expert(env, settings["seed"], int(steps), mean, spread, paper)
    return Result(
        place=one.place,
        env=env,
        base=base,
        critics=learner["critics"],
        sigma=learner["sigma"],
        demonstrations=settings["demonstrations"],
        seed=settings["seed"],
        purpose=purpose,
        label=arms.label(base, learner["critics"]),
        steps=scores["steps"],
        returns=scores["return"],
        spreads=scores["return_std"],
        noisy=scores["stochastic_return"],
        normal=None,
        seen=one.seen,
        seconds=one.seconds,
        options=arms.options_of(options),
        settings=settings,
        about=one.about,
        expert_return=one.expert_return,
    )
