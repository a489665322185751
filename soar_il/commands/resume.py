"""``soar resume`` and ``fingerprint``: runs that were begun."""

from pathlib import Path
from typing import TYPE_CHECKING

from soar_il.commands.asked import Folder, check_steps
from soar_il.commands.train import go
from soar_il.terminal.progress import console, say

if TYPE_CHECKING:
    from soar_il.runs.run import Run


def resume(
    run_dir: Folder, steps: int | None = None, allow_drift: bool = False, quiet: bool = False
) -> None:
    """Go on with a run from its newest checkpoint, exactly as if it had not stopped.

    Args:
        run_dir: The run directory.
        steps: A new total of environment steps. The run then ends as one that was started with this
            total; an iteration that was shortened to end at the old one is repeated in full.
        allow_drift: Go on although versions or threads have changed; results may then differ.
        quiet: Print errors and warnings only.
    """
    console.quiet = quiet
    say(f"reading {run_dir}")
    from soar_il.evaluation import times
    from soar_il.runs import plans

    began, plan = times.now(), plans.read(run_dir)
    if steps is not None:
        check_steps(steps)
        plan["steps"] = steps
    run = resumed(run_dir, allow_drift, plan["steps"])
    plans.write(run_dir, plan)
    if not run.built.takes_steps:
        say("it takes no environment steps, and its policy is kept")
    elif run.steps >= plan["steps"]:
        say(f"it has its {run.steps:,} steps; for more: soar resume {run_dir} --steps MORE")
    else:
        say(f"resuming at iteration {run.k}, {run.steps:,} of {plan['steps']:,} steps")
    go(run, plan, began)


def fingerprint(run_dir: Folder, allow_drift: bool = False) -> None:
    """Print a SHA-256 of everything learned, at the newest checkpoint. Equal runs have equal ones.

    Args:
        run_dir: The run directory.
        allow_drift: Go on although versions or threads have changed.
    """
    run = resumed(run_dir, allow_drift)
    print(run.fingerprint())
    run.close()


def resumed(folder: Path, allow_drift: bool, total: int | None = None) -> "Run":
    """An imitator's run or an expert's, from its newest checkpoint."""
    from soar_il.experts import sac
    from soar_il.runs.origin import read_config
    from soar_il.runs.run import Run

    make = sac.build if read_config(folder, verify=False).base == sac.NAME else None
    return Run.resume(folder, allow_drift=allow_drift, say=say, make=make, total=total)
