"""Everything that can be wrong with a sweep, found before its first job starts."""

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

from soar_il import build
from soar_il.bases import BASES
from soar_il.envs.blind import BlindEnv
from soar_il.errors import ConfigError, DemoError, SoarError
from soar_il.experts import sac
from soar_il.sweep import demos
from soar_il.sweep.grid import Job, Sweep


class Checked(NamedTuple):
    """The jobs that can run, with their demonstrations; the settings of all that are known."""

    jobs: tuple[Job, ...]
    settings: dict[str, Any]
    demos: dict[str, str]


def check(sweep: Sweep, only: tuple[str, ...] = ()) -> Checked:
    """``only``: parts of names; a job that has none of them is left out."""
    chosen = [job for job in sweep.jobs if not only or any(part in job.name for part in only)]
    if not chosen:
        known = ", ".join(job.name for job in sweep.jobs[:4])
        raise ConfigError(f"no job is called like {' or '.join(only)}", do=f"there are: {known}")
    if sweep.command == "tabular":
        return Checked(tuple(chosen), {}, {})
    _known_bases(sweep, chosen)
    settings = {job.name: resolved(job) for job in sweep.jobs if _resolvable(job)}
    if not sweep.trained:
        return Checked((), settings, {})
    for env in sorted({str(job.options["env"]) for job in chosen}):
        BlindEnv(env).close()
    if sweep.command == "expert train":
        return Checked(tuple(chosen), settings, {})
    found = _demonstrations(chosen)
    jobs = [
        dataclasses.replace(job, options={**job.options, "demos": str(found[_wanted(job)])})
        for job in chosen
    ]
    digests = {wanted: demos.digest(path) for wanted, path in found.items()}
    return Checked(tuple(jobs), settings, digests)


def resolved(job: Job) -> dict[str, Any]:
    """The settings that the job's command will arrive at."""
    options = dict(job.options)
    nested: dict[str, Any] = {}
    for name in ("critics", "sigma"):
        if name in options:
            nested.setdefault("learner", {})[name] = options[name]
    for name in ("termination", "seed", "demonstrations", "standardise", "indicator", "horizon"):
        if name in options:
            nested[name] = options[name]
    for name, value in options.items():
        if "." in name:
            room, _, key = name.partition(".")
            nested.setdefault(room, {})[key] = value
    env, preset = str(options["env"]), str(options.get("preset", "tuned"))
    try:
        if job.command == "expert train":
            return dataclasses.asdict(sac.resolve(env, preset, **nested))
        return dataclasses.asdict(build.resolve(str(options["base"]), env, preset, **nested))
    except SoarError as error:
        raise ConfigError(error.what, f"{job.name}: {error.where}", error.do) from None


def _resolvable(job: Job) -> bool:
    return job.command == "expert train" or job.options.get("base") in BASES


def _known_bases(sweep: Sweep, chosen: list[Job]) -> None:
    for job in chosen:
        for needed in ("env",) if sweep.command == "expert train" else ("env", "base"):
            if needed not in job.options:
                raise ConfigError(f"{needed} is not given", job.name, f"add {needed} to the grid")
    unknown = sorted({str(job.options["base"]) for job in chosen if not _resolvable(job)})
    if unknown:
        known = sorted({str(job.options["base"]) for job in chosen} - set(unknown))
        rest = f"; run the others with --only {' '.join(f'{base}-L' for base in known)}"
        raise ConfigError(
            f"not base methods of this version: {', '.join(unknown)}",
            do=f"known are {', '.join(sorted(BASES))}{rest if known else ''}",
        )


def _wanted(job: Job) -> str:
    return str(job.options.get("demos", job.options["env"]))


def _demonstrations(chosen: list[Job]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    missing: dict[str, DemoError] = {}
    for job in chosen:
        wanted = _wanted(job)
        given = Path(wanted) if "demos" in job.options else None
        if given is not None and not given.exists():
            raise DemoError("does not exist", str(given), "mend options.demos in the file")
        try:
            found[wanted] = given or demos.find(wanted)
        except DemoError as error:
            missing[wanted] = error
    if len(missing) == 1:
        raise next(iter(missing.values()))
    if missing:
        names = sorted(missing)
        have = sorted({str(job.options["env"]) for job in chosen} - set(names))
        rest = f"; run the others with --only {' '.join(have)}" if have else ""
        raise DemoError(
            f"there are no demonstrations of {', '.join(names)}",
            do=f"make them with `soar demos record ENV`, or put your own at demos/ENV.demos{rest}",
        )
    return found
