"""``soar sweep``: an experiment's file to the results of all its runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from soar_il.errors import ConfigError, SoarError
from soar_il.files import Fields
from soar_il.terminal.progress import console

if TYPE_CHECKING:
    from soar_il.sweep.checks import Checked
    from soar_il.sweep.kinds import Kind

File = Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
List = Annotated[bool, tyro.conf.arg(name="list")]
Address = Annotated[tuple[str, ...] | None, tyro.conf.arg(metavar="[ADDRESS]")]
Parts = Annotated[tuple[str, ...], tyro.conf.arg(metavar="PART [PART ...]")]


def sweep(
    file: File = None,
    out: Path | None = None,
    workers: int = 0,
    only: Parts = (),
    dry_run: bool = False,
    ray: Address = None,
    list_: List = False,
) -> None:
    """Run an experiment: every combination of its grid, one process a core.

    After an interruption start it again: finished jobs are kept, and the others go on from their
    checkpoints. `soar report` makes a page of the results.

    Args:
        file: A TOML file of your own, or the name of one that comes with the package: first.
        out: Folder for the runs; by default results/ and what the file says, or its name.
        workers: How many jobs run at a time; 0 for one a core.
        only: Run only jobs whose names contain one of these.
        dry_run: Print the jobs and an estimate of their time, then stop.
        ray: Run on a Ray cluster (needs the extra soar-il[ray]): give its address, or none to start
            a cluster on this machine.
        list_: List the files that come with the package, then stop.
    """
    if file is not None:
        console.print(f"reading {file}", markup=False, soft_wrap=True)
    from soar_il.sweep import book, checks, cluster, grid, local, shipped
    from soar_il.sweep.screen import Cells

    if list_:
        _list()
        return
    if file is None:
        raise ConfigError("no file is given", do="give one, or a name that `soar sweep --list` has")
    file = shipped.find(file)
    if workers < 0:
        raise ConfigError(f"workers is {workers}", do="give 1 or more, or 0 for one a core")
    asked = grid.read(file, kinds())
    out = out or Path("results") / (asked.out or file.stem)
    checked = checks.check(asked, only)
    workers = workers or len(local.cores())
    if dry_run:
        _show(checked, out, workers)
        return
    book.write(out, file.stem, asked, checked.settings, checked.demos)
    with Cells(checked.jobs, out) as screen:
        if ray is None:
            problems = local.run(checked.jobs, out, workers, screen)
        else:
            address = ray[0] if ray else ""
            problems = cluster.run(checked.jobs, out, address, workers, screen)
    for name, problem in problems.items():
        console.print(f"{name} failed:\n{problem}", style="red", markup=False, soft_wrap=True)
    if problems:
        raise SoarError(
            f"{len(problems)} of {len(checked.jobs)} jobs failed",
            str(out),
            "mend the cause (output.txt in a job's folder has all it said) and start it again",
        )
    where = out / f"{file.stem}{book.SUFFIX}"
    console.print(f"runs: {out}\nreport: soar report {where}", soft_wrap=True)


def _list() -> None:
    """What is shipped: its name, how many runs it stands for, and what it is."""
    from rich.table import Table

    from soar_il.sweep import grid, shipped

    known, table = kinds(), Table("name", "jobs", "what it is", box=None, pad_edge=False)
    for name in shipped.names():
        asked = grid.read(shipped.folder() / f"{name}.toml", known)
        table.add_row(name, str(len(asked.jobs)) if asked.trained else "none", asked.title)
    console.print(table)
    console.print(f"run one: soar sweep NAME; the files: {shipped.folder()}", soft_wrap=True)


def kinds() -> "dict[str, Kind]":
    """The commands that a sweep can run, by name."""
    from soar_il.commands import experts, tabular, train
    from soar_il.sweep.kinds import kind

    known = (
        kind("train", train.train, needs=("env", "base"), resolve=_imitator),
        kind("expert train", experts.train, needs=("env",), resolve=_expert),
        kind("tabular", tabular.tabular),
    )
    return {each.name: each for each in known}


def _imitator(options: Fields, nested: Fields) -> Any:
    """The settings that `soar train` arrives at."""
    from soar_il import configure

    return configure.resolve(options["base"], options["env"], options["preset"], **nested)


def _expert(options: Fields, nested: Fields) -> Any:
    """The settings that `soar expert train` arrives at."""
    from soar_il.experts import sac

    return sac.resolve(options["env"], options["preset"], **nested)


def _show(checked: "Checked", out: Path, workers: int) -> None:
    import shlex

    from soar_il.sweep import estimate, folder
    from soar_il.sweep.screen import duration

    left = estimate.seconds(checked.jobs, checked.settings, out)
    for job in checked.jobs:
        state = folder.state(out / job.name, job)
        needs = "" if state == "done" else f", about {duration(left[job.name])}"
        console.print(f"{job.name}: {state}{needs}", soft_wrap=True)
        line = shlex.join(["soar", *job.arguments(out / job.name)])
        console.print(f"  {line}", style="dim", markup=False, soft_wrap=True)
    whole = max([sum(left.values()) / workers, *left.values()])
    console.print(f"{len(checked.jobs)} jobs, about {duration(whole)} with {workers} worker(s)")
