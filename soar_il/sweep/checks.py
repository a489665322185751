"""Everything that can be wrong with a sweep, found before its first job starts."""

import dataclasses
import hashlib
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from soar_il import build
from soar_il.bases import BASES
from soar_il.configure import Config
from soar_il.envs.blind import BlindEnv
from soar_il.errors import ConfigError, DemoError, SoarError
from soar_il.experts.record import find_or_record, known
from soar_il.files import Fields
from soar_il.sweep import grid
from soar_il.sweep.grid import Job, Sweep
from soar_il.sweep.kinds import Resolve
from soar_il.terminal.progress import console


class Checked(NamedTuple):
    """The jobs that can run, with their demonstrations; the settings of all that are known."""

    jobs: tuple[Job, ...]
    settings: Fields
    demos: dict[str, str]


def check(sweep: Sweep, only: tuple[str, ...] = ()) -> Checked:
    """``only``: parts of names; a job that has none of them is left out."""
    chosen = [job for job in sweep.jobs if not only or any(part in job.name for part in only)]
    if not chosen:
        known = ", ".join(job.name for job in sweep.jobs[:4])
        raise ConfigError(f"no job is called like {' or '.join(only)}", do=f"there are: {known}")
    if sweep.kind.resolve is None:
        return Checked(tuple(chosen), {}, {})
    _complete(sweep, chosen)
    settings = {job.name: resolved(job) for job in sweep.jobs if _resolvable(job)}
    if sweep.trained:
        _environments(chosen)
    wants_demos = sweep.trained and "demos" in sweep.kind.options
    found = _found(chosen) if wants_demos else {}
    _runnable(chosen, found if wants_demos else None)
    if not sweep.trained:
        return Checked((), settings, {})
    if not wants_demos:
        return Checked(tuple(chosen), settings, {})
    jobs = [
        dataclasses.replace(job, options={**job.options, "demos": str(found[_wanted(job)])})
        for job in chosen
    ]
    digests = {wanted: _digest(path) for wanted, path in found.items()}
    return Checked(tuple(jobs), settings, digests)


def resolved(job: Job) -> Fields:
    """The settings that the job's command will arrive at."""
    return {} if job.kind.resolve is None else dataclasses.asdict(_config(job, job.kind.resolve))


def _config(job: Job, resolve: Resolve) -> Config:
    options = job.kind.options | job.options
    try:
        return resolve(options, job.kind.nested(job.options))
    except SoarError as error:
        raise ConfigError(error.what, f"{job.name}: {error.where}", error.do) from None


def _resolvable(job: Job) -> bool:
    return "base" not in job.kind.options or job.options["base"] in BASES


def _environments(chosen: list[Job]) -> None:
    """Each can be made, as its jobs will make it, and has the sizes that their settings ask for."""
    with ExitStack() as opened:
        made: dict[tuple[str, int], BlindEnv] = {}
        for job in chosen:
            resolve = job.kind.resolve if _resolvable(job) else None
            cfg = None if resolve is None else _config(job, resolve)
            name = str(job.options["env"])
            horizon = int(job.options.get("horizon", 0)) if cfg is None else cfg.horizon
            if (name, horizon) not in made:
                made[name, horizon] = env = BlindEnv(name, horizon or None)
                opened.callback(env.close)
            if cfg is not None:
                build.check_sizes(cfg, made[name, horizon])
                if cfg.base in BASES:
                    build.method_of(cfg, made[name, horizon].horizon, None)


def _complete(sweep: Sweep, chosen: list[Job]) -> None:
    for job in chosen:
        for needed in sweep.kind.needs:
            if needed not in job.options:
                raise ConfigError(f"{needed} is not given", job.name, f"add {needed} to the grid")


def _runnable(chosen: list[Job], found: dict[str, Path] | None) -> None:
    """Say at once all that is not there, and how to run the rest."""
    unknown = sorted({str(job.options["base"]) for job in chosen if not _resolvable(job)})
    lacking = {str(job.options["env"]) for job in chosen if found is not None and
               _wanted(job) not in found}  # fmt: skip
    if not unknown and not lacking:
        return
    what, do = [], []
    if unknown:
        what.append(f"not base methods of this version: {', '.join(unknown)}")
        do.append(f"known are {', '.join(sorted(BASES))}")
    if lacking:
        what.append(f"there are no demonstrations of {', '.join(sorted(lacking))}")
        env = min(lacking)
        do.append(
            f"make some: `soar demos record {env} --out demos/{env}.demos`; or put your own there"
        )
    rest = {
        grid.beginning(job.options)
        for job in chosen
        if _resolvable(job) and job.options["env"] not in lacking
    }
    if rest:
        do.append(f"run the others with --only {' '.join(sorted(rest))}")
    raise ConfigError("; ".join(what), do="; ".join(do))


def _wanted(job: Job) -> str:
    return str(job.options.get("demos", job.options["env"]))


def _found(chosen: list[Job]) -> dict[str, Path]:
    """Demonstrations by the name or path that jobs know them by, as far as there are any."""
    found: dict[str, Path] = {}
    for job in chosen:
        wanted = _wanted(job)
        if "demos" not in job.options:
            place = find_or_record(wanted, console.print) if known(wanted) else None
        elif (place := Path(wanted)).exists() is False:
            raise DemoError("does not exist", wanted, "mend options.demos in the file")
        if place is not None:
            found[wanted] = place
    return found


def _digest(path: Path) -> str:
    """Of the manifest, which vouches for the rest, or of the file."""
    file = path / "manifest.json" if path.is_dir() else path
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise DemoError(f"cannot be read ({error.strerror})", str(file)) from None
