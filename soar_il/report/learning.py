"""A report's learning curves: each environment's, and their average."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from soar_il.envs.ids import file_name
from soar_il.figures.style import INK, band, roomy
from soar_il.report.panel import Panel, colours_of, of_purpose, panel
from soar_il.report.results import (
    Result,
    Study,
    cells,
    curves,
    grid,
    is_normal,
)
from soar_il.statistics import aggregate
from soar_il.statistics.intervals import FEWEST

MOST_RUNS = 40  # that are drawn one by one behind their mean


def learning(study: Study, purpose: str) -> Iterator[Panel]:
    """Returns against environment steps, one panel for each environment."""
    colours, soar = colours_of(study.results), any(r.critics > 1 for r in study.results)
    by_env: dict[tuple[str, int], list[list[Result]]] = {}
    for (env, _, _), runs in cells(of_purpose(study, purpose)).items():
        by_env.setdefault((env, runs[0].demonstrations), []).append(runs)
    for (env, count), sides in by_env.items():
        normal = is_normal([r for runs in sides for r in runs])

        def draw(ax: Axes, sides: list[list[Result]] = sides, normal: bool = normal) -> None:
            whole = grid([r for runs in sides for r in runs])
            for runs in sides:
                first = runs[0]
                at = whole if first.stepless else grid(runs)  # a clone is a level line
                made = curves(runs, at)
                middle = aggregate.bootstrap(aggregate.iqm_curve, made[:, None], resamples=500)
                colour = colours[first.label]
                band(ax, at, middle, colour, first.label, soar and first.critics == 1)
                if len(runs) > 1 and sum(map(len, sides)) <= MOST_RUNS:  # what failed is seen
                    ax.plot(at, made.T, color=colour, lw=0.6, alpha=0.5)
            for height, who in ((1, "expert"), (0, "random play")) if normal else ():
                ax.axhline(height, color=INK, lw=0.8, ls=":")
                where = ax.get_yaxis_transform()
                side, apart = ("bottom", 2) if height else ("top", -2)  # curves are in between
                words: dict[str, Any] = {"ha": "right", "va": side, "fontsize": 7}
                ax.annotate(
                    who, (1, height), (-2, apart), where, textcoords="offset points", **words
                )
            roomy(ax, normal)

        seeds = sorted({len(runs) for runs in sides})
        many = " to ".join(str(n) for n in dict.fromkeys((seeds[0], seeds[-1])))
        many += " seeds" if seeds[-1] > 1 else " seed"
        shown = "interquartile mean" + (", 95 % interval" if seeds[0] >= FEWEST else "")
        shown += " and single runs over" if sum(map(len, sides)) <= MOST_RUNS else " over"
        shown = shown if seeds[-1] > 1 else "single runs,"
        named = f"{env}{f', {count} demonstrations' if count > 1 else ''}"
        named += ", 1 demonstration" if count == 1 else ""
        yield panel(
            f"learning-{file_name(env)}-{count}-{purpose}",
            "Learning curves" if purpose == "report" else "Selection",
            f"{named}: {shown} {many}" + ("." if normal else ", true returns."),
            draw,
            xlabel="environment steps",
            ylabel="normalised return" if normal else "return",
        )


def average(study: Study) -> Iterator[Panel]:
    """The paper's first figure: mean normalised return over environments, one panel a base."""
    reported = of_purpose(study, "report")
    if len({r.env for r in reported}) < 2 or not is_normal(reported):
        return
    colours = colours_of(study.results)
    for base in dict.fromkeys(r.base for r in reported if not r.stepless):
        sides: dict[str, list[list[Result]]] = {}
        for (_, label, _), runs in cells(r for r in reported if r.base == base).items():
            sides.setdefault(label, []).append(runs)

        def draw(ax: Axes, sides: dict[str, list[list[Result]]] = sides) -> None:
            share = np.linspace(0, 1, 41)
            for label, tasks in sides.items():
                n = min(map(len, tasks))
                made = np.stack(
                    [curves(runs[:n], g[0] + share * (g[-1] - g[0])) for runs in tasks
                     for g in [grid(runs)]], axis=1,
                )  # fmt: skip
                means = aggregate.bootstrap(lambda x: x.mean(axis=(-3, -2)), made, resamples=500)
                first = tasks[0][0]
                band(ax, share, means, colours[first.label], label, first.critics == 1)

        yield panel(
            f"average-{base}",
            "Average over environments",
            f"{base}: mean over environments and seeds, 95 % stratified bootstrap.",
            draw,
            xlabel="share of the training",
            ylabel="normalised return",
        )
