"""The hard exploration task: what is made of the values that ``soar tabular`` measured.

Two policies are looked at, and every figure, table and verdict names its own: the mixture, which
Algorithm 2 returns, and the policy of the last iteration, which the released notebook shows.
"""

import numpy as np
from matplotlib.axes import Axes

from soar_il.figures.style import COLOURS, INK, band
from soar_il.files import Fields
from soar_il.report.results import Study
from soar_il.report.table import Table
from soar_il.report.verdict import Finding, above
from soar_il.statistics import aggregate
from soar_il.statistics.intervals import mean_interval, shown

POLICIES = {"mixture_value": "mixture", "policy_value": "last policy"}
SPOKEN = {
    "mixture_value": "mixture of the policies so far, which Algorithm 2 returns",
    "policy_value": "policy of each iteration, the last at the right end",
}
SOLVED = 0.1  # of the way from the expert's value to the uniform policy's


def missing_lead(content: Fields, policy: str) -> dict[int, np.ndarray]:
    """By L, [runs, 1]: 0 for the expert's value, 1 for the uniform policy's, at the end."""
    best, chance = content["expert_value"], content["uniform_value"]
    return {
        curve["critics"]: np.array(
            [[(r[policy][-1] - best) / (chance - best)] for r in curve["runs"]]
        )
        for curve in content["curves"]
    }


def hard_exploration(study: Study) -> list[Finding]:
    """One critic fails on some seeds where two or three do not."""
    found = []
    for content in study.studies:
        for policy, name in POLICIES.items():
            left = missing_lead(content, policy)
            for few in (2, 3):
                if 1 not in left or few not in left:
                    continue
                made = aggregate.bootstrap(aggregate.difference, left[1], left[few], paired=True)
                found.append(
                    Finding(
                        f"in the hard exploration task L = {few} comes nearer to the expert than 1",
                        f"{content['task']['mdp']}, {name}",
                        f"share of the expert's lead that the {name} misses, L = 1 minus the other",
                        made,
                        above(made),
                        len(left[1]),
                    )
                )
    return found


def table(content: Fields, number: int = 0) -> Table:
    """What came out at the end, a row for each number of critics."""
    last = missing_lead(content, "policy_value")
    rows = []
    for curve in content["curves"]:
        runs, solved = curve["runs"], last[curve["critics"]] <= SOLVED
        samples = np.mean([r["steps"][-1] for r in runs])
        ends = [
            shown(mean_interval(np.array([r[policy][-1] for r in runs]))) for policy in POLICIES
        ]
        done = f"{int(solved.sum())}/{len(solved)}"
        rows.append((str(curve["critics"]), f"{samples:,.0f}", *ends, done))
    title = (
        f"{content['task']['mdp']}: cost from the start, lower is better "
        f"(expert {content['expert_value']:.2f}, uniform policy {content['uniform_value']:.2f})"
    )
    note = (
        "Mean over seeds and 95 % interval; no interval below five seeds. Solved: the last policy "
        f"is within {SOLVED:.0%} of the expert's lead over the uniform policy."
    )
    head = ("L", "MDP samples", *POLICIES.values(), "seeds solved")
    return Table(f"exploration-{number}", title, head, tuple(rows), note)


def runs(content: Fields) -> Table:
    """What each run came to, for ``ablation.csv``."""
    rows = tuple(
        (
            *(str(curve["critics"]), str(r["seed"]), str(r["steps"][-1])),
            *(f"{r[policy][-1]:.6f}" for policy in POLICIES),
        )
        for curve in content["curves"]
        for r in curve["runs"]
    )
    return Table("ablation", "Runs", ("L", "seed", "MDP samples", *POLICIES.values()), rows)


def draw(ax: Axes, content: Fields, policy: str) -> None:
    """Cost against MDP samples, a line for each number of critics."""
    for n, curve in enumerate(content["curves"]):
        steps = np.mean([r["steps"] for r in curve["runs"]], axis=0)
        made = mean_interval(np.array([r[policy] for r in curve["runs"]]))
        band(ax, steps, made, COLOURS[n % len(COLOURS)], f"L = {curve['critics']}", False)
    ax.axhline(content["expert_value"], color=INK, ls="--", lw=1, label="expert")
    ax.axhline(content["uniform_value"], color=INK, ls=":", lw=1, label="uniform policy")
    ax.set_xscale("log")
