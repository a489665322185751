"""How fast Regret(K) / K falls: runs of growing K, their slope, and the bound beside them."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from soar_il.errors import ConfigError
from soar_il.files import Fields
from soar_il.report.table import Table
from soar_il.statistics.intervals import Interval, mean_interval, shown, slope_interval
from soar_il.tabular import theory
from soar_il.tabular.expert import draw_expert
from soar_il.tabular.mdp import Array, Mdp
from soar_il.tabular.regret import Regret, decompose
from soar_il.tabular.run import run
from soar_il.tabular.settings import Settings
from soar_il.terminal.progress import Ticker, run_jobs

DELTA = 0.1
Constants = Literal["practical", "theory"]
TERMS = ("policy", "btrl", "optimism", "shift", "cost", "gradient", "sampling", "expert")


@dataclass(frozen=True)
class Point:
    """All seeds at one K; arrays are [seeds], sums over k of the increments over 1 - gamma."""

    iterations: int
    settings: Settings
    expert_samples: int
    regret: Array
    terms: dict[str, Array]
    bound: float
    optimism_failed: Array  # whether delta^k(s, a) < 0 anywhere in a run


def settings_for(mdp: Mdp, iterations: int, constants: Constants, state_only: bool) -> Settings:
    """The theory's L, eta and alpha; or L = 3 and a larger eta with the same K^(-1/2).

    The theory's L asks for some 500 visits of every pair before anything is learned;
    docs/tabular.md shows both.
    """
    if constants == "theory":
        critics = theory.n_critics(mdp.n_states, mdp.n_actions, iterations, DELTA)
        eta = theory.policy_step(mdp.n_actions, mdp.discount, iterations)
    else:
        critics, eta = 3, 40 / math.sqrt(iterations)
    return Settings(
        critics=critics,
        eta=eta,
        alpha=theory.cost_step(iterations),
        rule="min",
        state_only=state_only,
    )


def measure(
    mdp: Mdp, iterations: int, constants: Constants, seeds: Sequence[int], state_only: bool,
    ticker: Ticker,
) -> Point | None:  # fmt: skip
    """Runs of K iterations with K expert samples; None if stopped on the way."""
    settings = settings_for(mdp, iterations, constants, state_only)
    experts = [draw_expert(mdp, iterations, seed, state_only) for seed in seeds]
    traces = run(mdp, experts, settings, iterations, seeds)
    totals = {name: np.zeros(len(seeds)) for name in ("regret", *TERMS)}
    failed = np.zeros(len(seeds), dtype=bool)
    for part in decompose(mdp, traces, experts, mdp.optimal_policy()):
        _accumulate(totals, part, mdp.discount)
        failed |= (part.least_optimism < -1e-12).any(axis=1)
        ticker.advance(part.regret.shape[1])
        if ticker.stopped:
            return None
    regret, bound = totals.pop("regret"), _bound(mdp, settings, iterations)
    return Point(iterations, settings, iterations, regret, totals, bound, failed)


def _accumulate(totals: dict[str, Array], part: Regret, discount: float) -> None:
    for name in totals:
        totals[name] += getattr(part, name).sum(axis=1) / (1 - discount)


def _bound(mdp: Mdp, settings: Settings, iterations: int) -> float:
    """The regret bound with these settings; infinite where the theorem does not apply."""
    wanted = theory.n_critics(mdp.n_states, mdp.n_actions, iterations, DELTA)
    if settings.critics < wanted or (mdp.transitions > 0).sum(axis=-1).max() > 2:
        return math.inf
    return theory.regret_bound(
        mdp.n_states,
        mdp.n_actions,
        iterations,
        settings.critics,
        mdp.discount,
        settings.eta,
        settings.alpha,
        iterations,
        DELTA,
        settings.rule,
        settings.state_only,
    )


def grid(smallest: int, largest: int) -> list[int]:
    """Two values of K a decade."""
    if not 10 <= smallest < largest:
        raise ConfigError(f"K from {smallest} to {largest}", do="give 10 <= smallest < largest")
    count = max(2, round(2 * math.log10(largest / smallest)) + 1)
    return [int(k) for k in np.geomspace(smallest, largest, count).round()]


def measure_all(
    problems: Sequence[Mdp], ks: Sequence[int], constants: Constants, seeds: Sequence[int],
    state_only: bool,
) -> tuple[dict[str, list[Point]], bool]:  # fmt: skip
    """For each MDP its points; an MDP that Ctrl-C cut short has fewer."""
    jobs = []
    for mdp in problems:

        def work(ticker: Ticker, mdp: Mdp = mdp) -> tuple[str, list[Point]]:
            points = []
            for k in ks:
                point = measure(mdp, k, constants, seeds, state_only, ticker)
                if point is None:
                    break
                points.append(point)
            return mdp.name, points

        jobs.append((mdp.name, sum(ks), work))
    results, interrupted = run_jobs(jobs)
    return dict(results), interrupted


def slope(points: Sequence[Point]) -> Interval:
    """d log(Regret(K) / K) / d log K, with a bootstrap interval over seeds."""
    ks = [p.iterations for p in points]
    return slope_interval(ks, np.stack([p.regret / p.iterations for p in points], axis=1))


def _slope_or_none(points: Sequence[Point]) -> dict[str, float] | None:
    fitted = slope(points)
    return fitted._asdict() if len(points) > 1 and np.all(np.isfinite(fitted)) else None


def table(measured: dict[str, list[Point]]) -> Table:
    """Regret(K) / K at the ends of the range, and the slope between them."""
    rows = []
    for name, points in measured.items():
        ends = [
            f"{mean_interval(p.regret / p.iterations).value:.3g} at {p.iterations:,}"
            for p in (points[0], points[-1])
        ]
        rows.append((name, *ends, shown(slope(points)) if len(points) > 1 else ""))
    title = "Regret(K) / K, mean over seeds; slope with its 95 % interval"
    return Table("regret", title, ("MDP", "smallest K", "largest K", "slope"), tuple(rows))


def runs(measured: dict[str, list[Point]], seeds: Sequence[int]) -> Table:
    """Each run's regret and what it is made of, for ``regret.csv``."""
    rows = tuple(
        (
            *(name, str(p.iterations), str(p.settings.critics), str(seed)),
            *(f"{float(x):.6g}" for x in (p.regret[n], *(p.terms[t][n] for t in TERMS), p.bound)),
            "yes" if p.optimism_failed[n] else "no",
        )
        for name, points in measured.items()
        for p in points
        for n, seed in enumerate(seeds)
    )
    head = ("MDP", "K", "L", "seed", "regret", *TERMS, "bound", "optimism failed")
    return Table("regret", "Runs", head, rows)


def write_json(
    path: Path, measured: dict[str, list[Point]], seeds: Sequence[int], about: Fields
) -> None:
    content = {
        **about,
        "seeds": list(seeds),
        "delta": DELTA,
        "mdps": {
            name: {
                "slope": _slope_or_none(points),
                "points": [
                    {
                        "iterations": p.iterations,
                        "expert_samples": p.expert_samples,
                        "settings": asdict(p.settings),
                        "regret": p.regret.tolist(),
                        "terms": {term: values.tolist() for term, values in p.terms.items()},
                        "bound": p.bound if math.isfinite(p.bound) else None,
                        "optimism_failed": p.optimism_failed.tolist(),
                    }
                    for p in points
                ],
            }
            for name, points in measured.items()
        },
    }
    path.write_text(json.dumps(content, default=float), encoding="utf-8")
