"""``soar bonus``: what the bonus of a run does."""

from pathlib import Path
from typing import Annotated

import tyro

from soar_il.errors import ConfigError
from soar_il.terminal.progress import console

Folders = Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[RUN ...]")]


def bonus(
    runs: Folders = (),
    mdp: str | None = None,
    critics: int = 3,
    seeds: int = 5,
    iterations: int = 1000,
    states: int = 2048,
    allow_drift: bool = False,
) -> None:
    """What SOAR's bonus does in a finished run: how large it is, how often clipped, what it moves.

    Written to bonus.json in each run, where `soar report` finds it. Nothing is learned from it.

    Args:
        runs: Folders of runs with two critics or more.
        mdp: Instead a tabular run on this MDP: the correlation of the spread with the visits,
            exactly.
        critics: L of the tabular run.
        seeds: How many tabular runs.
        iterations: K of the tabular run.
        states: How many states of a run are looked at.
        allow_drift: Although versions or threads are others than the run's.
    """
    if bool(runs) == (mdp is not None):
        raise ConfigError("neither runs nor an MDP, or both", do="give runs, or --mdp NAME")
    if min(critics, seeds, iterations, states) < 1:
        raise ConfigError("a count is below 1", do="give at least 1")
    if mdp is not None:
        _tabular(mdp, critics, seeds, iterations)
        return
    from soar_il.commands.resume import resumed
    from soar_il.evaluation import bonus as deep

    for folder in runs:
        run = resumed(folder, allow_drift)
        try:
            numbers = deep.measure(run, states)
        finally:
            run.close()
        deep.write(folder, numbers)
        console.print(f"{folder}: {deep.spoken(numbers)}", markup=False, soft_wrap=True)


def _tabular(mdp: str, critics: int, seeds: int, iterations: int) -> None:
    from soar_il import config
    from soar_il.tabular import bonus, mdps
    from soar_il.tabular.studies.ablation import Task

    task = config.preset(Task, "tabular", "paper")
    settings = task.settings.with_critics(critics)
    spread, visits = bonus.spread_and_visits(
        mdps.make(mdp), settings, iterations, task.expert_samples, range(seeds)
    )
    found = bonus.correlation(spread, visits)
    low, high = found.min(), found.max()
    console.print(
        f"{mdp}, L = {critics}, K = {iterations}: spread and visits N(s, a) correlate by "
        f"{found.mean():.2f} ({low:.2f} to {high:.2f} over {seeds} seeds, Spearman)",
        markup=False, soft_wrap=True,
    )  # fmt: skip
