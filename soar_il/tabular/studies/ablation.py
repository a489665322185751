"""The hard-exploration experiment: the value of what is learned, for several numbers of critics."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from soar_il.files import Fields
from soar_il.tabular import mdps
from soar_il.tabular.expert import draw_expert
from soar_il.tabular.mdp import Array, Mdp
from soar_il.tabular.run import run
from soar_il.tabular.settings import Settings
from soar_il.terminal.progress import Ticker, run_jobs

POINTS = 80  # of a curve, spread evenly over log k


@dataclass(frozen=True)
class Task:
    """What a tabular preset says."""

    mdp: str = "hard-exploration"
    iterations: int = 10_000
    expert_samples: int = 100
    settings: Settings = field(default_factory=Settings)


@dataclass(frozen=True)
class Curve:
    """The values of one number of critics; arrays are [seeds, points]."""

    critics: int
    k: Array
    steps: Array  # environment steps up to and with iteration k
    policy_value: Array  # <nu_0, V> of pi^k
    mixture_value: Array  # <nu_0, V> of the mixture of pi^1 .. pi^k


def learn(
    mdp: Mdp, settings: Settings, iterations: int, expert_samples: int, seeds: Sequence[int],
    ticker: Ticker,
) -> Curve:  # fmt: skip
    """One curve: all seeds side by side, each with expert data of its own."""
    experts = [draw_expert(mdp, expert_samples, seed, settings.state_only) for seed in seeds]
    wanted = np.unique(np.geomspace(1, iterations, POINTS).round().astype(int))
    kept: list[tuple[Array, ...]] = []
    total_value = np.zeros(len(seeds))
    total_steps = np.zeros(len(seeds))
    chunk = min(1000, -(-iterations // 20))
    for trace in run(mdp, experts, settings, iterations, seeds, chunk):
        k = trace.first + np.arange(trace.steps.shape[1])
        value = mdp.initial_value(trace.policy)
        sums = total_value[:, None] + np.cumsum(value, axis=1)
        steps = total_steps[:, None] + np.cumsum(trace.steps, axis=1)
        at = np.isin(k, wanted)
        kept.append((k[at], steps[:, at], value[:, at], sums[:, at] / k[at]))
        total_value, total_steps = sums[:, -1], steps[:, -1]
        ticker.advance(len(k))
        if ticker.stopped:
            break
    columns = [np.concatenate(part, axis=-1) for part in zip(*kept, strict=True)]
    return Curve(settings.critics, *columns)


def ablate(task: Task, critics: Sequence[int], seeds: Sequence[int]) -> tuple[list[Curve], bool]:
    """A curve for each number of critics, and whether Ctrl-C cut the work short."""
    mdp = mdps.make(task.mdp)
    jobs = []
    for count in critics:
        settings = task.settings.with_critics(count)

        def work(ticker: Ticker, settings: Settings = settings) -> Curve:
            return learn(mdp, settings, task.iterations, task.expert_samples, seeds, ticker)

        jobs.append((f"L = {count}", task.iterations, work))
    return run_jobs(jobs)


def content(
    task: Task, mdp: Mdp, curves: Sequence[Curve], seeds: Sequence[int], about: Fields
) -> Fields:
    """All that a reader needs to draw the figure or to check the table: ``ablation.json``."""
    return {
        **about,
        "task": asdict(task),
        "seeds": list(seeds),
        "discount": mdp.discount,
        "expert_value": float(mdp.initial_value(mdp.optimal_policy())),
        "uniform_value": float(mdp.initial_value(mdp.uniform_policy())),
        "curves": [
            {
                "critics": curve.critics,
                "k": curve.k.tolist(),
                "runs": [
                    {
                        "seed": seed,
                        "steps": curve.steps[row].astype(int).tolist(),
                        "policy_value": np.round(curve.policy_value[row], 6).tolist(),
                        "mixture_value": np.round(curve.mixture_value[row], 6).tolist(),
                    }
                    for row, seed in enumerate(seeds)
                ],
            }
            for curve in curves
        ],
    }
