"""``soar tabular`` and ``soar regret``: the provable algorithm and its rate."""

import dataclasses
import json
from pathlib import Path
from typing import Annotated, Literal

import tyro

from soar_il.errors import ConfigError
from soar_il.terminal.progress import console

Critics = Annotated[tuple[int, ...], tyro.conf.arg(metavar="L [L ...]")]
Mdps = Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME [NAME ...]")]


def tabular(
    critics: Critics = (1, 2, 3, 5, 10, 50, 100),
    seeds: int = 20,
    iterations: int | None = None,
    mdp: str | None = None,
    rule: Literal["min", "mean-std"] | None = None,
    preset: str = "paper",
    out: Path = Path("results/tabular"),
) -> None:
    """Run tabular SOAR-IL (Algorithm 2) for several numbers of critics L.

    Prints a table, writes ablation.json (the curves of all runs), ablation.csv (where each run
    ended), ablation.svg and ablation.png.

    Args:
        critics: Numbers of critics L to compare.
        seeds: How many runs for each L; they use the seeds 0, 1, ...
        iterations: K, the iterations of each run; by default the preset's.
        mdp: hard-exploration, hard-exploration-as-released, garnet, chain, deep-sea, or a Gymnasium
            toy-text id such as FrozenLake-v1; by default the preset's.
        rule: How the L estimates are combined: by their minimum, or by mean minus standard
            deviation; by default the preset's.
        preset: paper (Algorithm 2 with the paper's numbers), as-released (the released notebook's
            variant), without-plus-two, without-bonus, or a TOML file of your own.
        out: Folder for the results.
    """
    from soar_il import config, provenance
    from soar_il.report import tabular as report
    from soar_il.report.table import as_csv, for_terminal
    from soar_il.tabular import mdps
    from soar_il.tabular.studies import ablation, figures

    task = config.preset(ablation.Task, "tabular", preset)
    task = dataclasses.replace(
        task,
        iterations=task.iterations if iterations is None else iterations,
        mdp=mdp or task.mdp,
        settings=dataclasses.replace(task.settings, rule=rule or task.settings.rule),
    )
    _check_counts(critics=critics, seeds=(seeds,), iterations=(task.iterations,))
    problem = mdps.make(task.mdp)
    out = _folder(out)
    console.print(f"preset {preset}: {task}")
    curves, interrupted = ablation.ablate(task, critics, range(seeds))
    if not curves:
        raise KeyboardInterrupt
    content = ablation.content(task, problem, curves, range(seeds), provenance.about())
    (out / "ablation.json").write_text(json.dumps(content), encoding="utf-8")
    (out / "ablation.csv").write_text(as_csv(report.runs(content)), encoding="utf-8")
    title = (
        f"{problem.name}, preset {preset}, {seeds} seeds, {task.expert_samples} expert samples, "
        f"rule {task.settings.rule}"
    )
    figure = figures.ablation_figure(content, title, out)
    console.print(for_terminal(report.table(content)))
    _say_where(out / "ablation.json", figure)
    if interrupted:
        raise KeyboardInterrupt


def regret(
    mdps: Mdps = ("hard-exploration",),
    garnets: int = 0,
    smallest: int = 100,
    largest: int = 10_000,
    seeds: int = 20,
    first_seed: int = 0,
    constants: Literal["practical", "theory"] = "practical",
    state_only: bool = True,
    out: Path = Path("results/regret"),
) -> None:
    """Measure how fast Regret(K) / K falls, its terms, and the theorem's bound.

    Each K is a separate run with K expert samples. Prints a table with the slope on log-log
    axes, writes regret.json, regret.csv (a row for each run), regret.svg and regret.png.

    Args:
        mdps: MDPs by name, as in `soar tabular`.
        garnets: How many random MDPs to add (5 states, 3 actions, 2 successors, discount 0.9).
        smallest: The smallest K.
        largest: The largest K; there are two values of K a decade.
        seeds: How many runs for each K.
        first_seed: The first of these seeds. The practical constants were chosen on seeds 0 to 7:
            report others.
        constants: theory (L, eta, alpha and the bound of the theorems), or practical (L = 3,
            eta = 40 / sqrt(K); no bound holds for so few critics).
        state_only: Show the learner only the expert's states, not its actions.
        out: Folder for the results.
    """
    from soar_il import provenance
    from soar_il.report.table import as_csv, for_terminal
    from soar_il.tabular.mdps import garnet, make
    from soar_il.tabular.studies import figures, rate

    _check_counts(seeds=(seeds,))
    problems = [make(name) for name in mdps] + [garnet(seed=seed) for seed in range(garnets)]
    ks = rate.grid(smallest, largest)
    used = range(first_seed, first_seed + seeds)
    out = _folder(out)
    measured, interrupted = rate.measure_all(problems, ks, constants, used, state_only)
    measured = {name: points for name, points in measured.items() if points}
    if not measured:
        raise KeyboardInterrupt
    rate.write_json(out / "regret.json", measured, used, provenance.about())
    (out / "regret.csv").write_text(as_csv(rate.runs(measured, used)), encoding="utf-8")
    title = f"{constants} constants, seeds {used[0]} to {used[-1]}, K expert samples"
    figure = figures.regret_figure(measured, title, out)
    console.print(for_terminal(rate.table(measured)))
    _say_where(out / "regret.json", figure)
    if interrupted:
        raise KeyboardInterrupt


def _check_counts(**counts: tuple[int, ...]) -> None:
    for name, numbers in counts.items():
        for number in numbers:
            if number < 1:
                raise ConfigError(f"{name} is {number}", do="give a number of at least 1")


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"cannot be made ({error.strerror})", str(path), "choose another with --out"
        ) from None
    return path


def _say_where(values: Path, figure: Path) -> None:
    console.print(f"values: {values}\nfigure: {figure}", soft_wrap=True)
