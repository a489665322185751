"""A study's figures: small ones, a panel each, so that a page can lay them out for any screen."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

from soar_il.envs.ids import file_name
from soar_il.figures.style import COLOURS, INK, PANEL, band, roomy
from soar_il.report import tabular
from soar_il.report.arm_tables import over_environments
from soar_il.report.compare import Comparison
from soar_il.report.results import (
    Result,
    Study,
    cells,
    curves,
    final,
    grid,
    is_normal,
)
from soar_il.statistics import aggregate
from soar_il.statistics.intervals import FEWEST, Interval, mean_interval

MOST = 12  # comparisons in a figure
MOST_RUNS = 40  # that are drawn one by one behind their mean


class Panel(NamedTuple):
    """A figure with its file's name and what a reader should know."""

    name: str
    section: str
    caption: str
    figure: Figure


def panels(study: Study, compared: Sequence[Comparison]) -> Iterator[Panel]:
    """All that the results allow."""
    with plt.rc_context(PANEL):
        yield from _learning(study, "report")
        yield from _average(study)
        yield from _aggregates(study)
        yield from _profiles(study)
        yield from _differences(compared)
        yield from _against(study, "critics", "number of pairs of critics L", "report")
        yield from _against(study, "sigma", "clip value sigma", "report")
        for number, content in enumerate(study.studies):
            yield from _exploration(content, number)
        yield from _learning(study, "selection")
        yield from _against(study, "sigma", "clip value sigma", "selection")


def _panel(
    name: str, section: str, caption: str, draw: Callable[[Axes], None], **labels: Any
) -> Panel:
    figure, ax = plt.subplots(figsize=(4.8, 3.2), layout="constrained")
    draw(ax)
    ax.set(**labels)
    if labels.get("xlabel") == "environment steps":
        ax.xaxis.set_major_formatter(EngFormatter(sep=""))
    entries, named = ax.get_legend_handles_labels()
    if named:  # below the axes, where no curve runs under it; as many beside each other as fit
        columns = max(1, min(len(named), 64 // (6 + max(map(len, named)))))
        figure.legend(entries, named, loc="outside lower left", ncols=columns, fontsize=8)
        rows = -(-len(named) // columns)
        figure.set_size_inches(4.8, 3.1 + 0.18 * rows)
    return Panel(name, section, caption, figure)


def _for(study: Study, purpose: str) -> list[Result]:
    return [r for r in study.results if r.purpose == purpose]


def _colours(results: Sequence[Result]) -> dict[str, str]:
    keys = sorted(cells(results), key=lambda key: key[2])  # what is reported comes first
    labels = dict.fromkeys(key[1] for key in keys)
    return {label: COLOURS[n % len(COLOURS)] for n, label in enumerate(labels)}


def _learning(study: Study, purpose: str) -> Iterator[Panel]:
    colours, soar = _colours(study.results), any(r.critics > 1 for r in study.results)
    by_env: dict[tuple[str, int], list[list[Result]]] = {}
    for (env, _, _), runs in cells(_for(study, purpose)).items():
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
                words: dict[str, Any] = {"ha": "right", "va": "bottom", "fontsize": 7}
                ax.annotate(who, (1, height), (-2, 2), where, textcoords="offset points", **words)
            roomy(ax, normal)

        seeds = sorted({len(runs) for runs in sides})
        many = " to ".join(str(n) for n in dict.fromkeys((seeds[0], seeds[-1])))
        many += " seeds" if seeds[-1] > 1 else " seed"
        shown = "interquartile mean" + (", 95 % interval" if seeds[0] >= FEWEST else "")
        shown += " and single runs over" if sum(map(len, sides)) <= MOST_RUNS else " over"
        shown = shown if seeds[-1] > 1 else "single runs,"
        named = f"{env}{f', {count} demonstrations' if count > 1 else ''}"
        named += ", 1 demonstration" if count == 1 else ""
        yield _panel(
            f"learning-{file_name(env)}-{count}-{purpose}",
            "Learning curves" if purpose == "report" else "Selection",
            f"{named}: {shown} {many}" + ("." if normal else ", true returns."),
            draw,
            xlabel="environment steps",
            ylabel="normalised return" if normal else "return",
        )


def _average(study: Study) -> Iterator[Panel]:
    """The paper's first figure: mean normalised return over environments, one panel a base."""
    reported = _for(study, "report")
    if len({r.env for r in reported}) < 2 or not is_normal(reported):
        return
    colours = _colours(study.results)
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

        yield _panel(
            f"average-{base}",
            "Average over environments",
            f"{base}: mean over environments and seeds, 95 % stratified bootstrap.",
            draw,
            xlabel="share of the training",
            ylabel="normalised return",
        )


def _aggregates(study: Study) -> Iterator[Panel]:
    rows, colours = over_environments(study.results), _colours(study.results)
    if not rows:
        return

    def draw(ax: Axes) -> None:
        for n, (label, scores, _) in enumerate(rows):
            colour = colours.get(label, COLOURS[n % len(COLOURS)])
            for offset, statistic, mark in (
                (-0.12, aggregate.iqm, "o"),
                (0.12, aggregate.mean, "s"),
            ):
                made = aggregate.bootstrap(statistic, scores)
                ax.plot(made.value, n + offset, mark, color=colour, ms=5)
                ax.plot([made.low, made.high], [n + offset] * 2, color=colour, lw=2)
        ax.axvline(1, color=INK, lw=0.8, ls=":")
        ax.set_yticks(range(len(rows)), [row[0] for row in rows])
        ax.set_ylim(len(rows) - 0.5, -0.5)

    yield _panel(
        "aggregate",
        "Aggregates",
        "Circles: interquartile mean, squares: mean, over all environments, at the end; "
        "95 % stratified bootstrap where there are five seeds.",
        draw,
        xlabel="normalised return",
    )


def _profiles(study: Study) -> Iterator[Panel]:
    rows, colours = over_environments(study.results), _colours(study.results)
    if not rows:
        return

    def draw(ax: Axes) -> None:
        top = max(1.1, *(float(scores.max()) for _, scores, _ in rows))
        tau = np.linspace(0, top, 111)
        for n, (label, scores, _) in enumerate(rows):
            made = aggregate.bootstrap(lambda x: aggregate.profile(x, tau), scores, resamples=500)
            colour = colours.get(label, COLOURS[n % len(COLOURS)])
            band(ax, tau, made, colour, label, "SOAR" not in label)

    yield _panel(
        "profiles",
        "Aggregates",
        "Performance profile: the share of runs whose policy at the end is better than a level.",
        draw,
        xlabel="normalised return",
        ylabel="share of runs above it",
    )


def _differences(compared: Sequence[Comparison]) -> Iterator[Panel]:
    """Every two arms: how far they ended apart."""
    shown = [c for c in compared if c.normal == compared[0].normal][:MOST]
    if len(shown) < 2:  # of one pair the table says it all
        return
    envs = {c.envs for c in shown}

    def draw(ax: Axes) -> None:
        for n, c in enumerate(shown):
            made = c.difference
            ax.plot(made.value, n, "o", color=COLOURS[0], ms=6)
            bounds = (made.low, made.high) if np.isfinite(made.low) else (c.lowest, c.highest)
            ax.plot(bounds, [n, n], color=COLOURS[0], lw=2, ls="-" if c.seeds >= FEWEST else ":")
        ax.axvline(0, color=INK, lw=0.8, ls=":")
        ax.xaxis.set_major_locator(MaxNLocator(5))
        named = [f"{c.ours}\nminus {c.theirs}" for c in shown]
        if len(envs) > 1:
            places = [c.envs[0] if len(c.envs) == 1 else "all" for c in shown]
            named = [f"{name}\n{place}" for name, place in zip(named, places, strict=True)]
        ax.set_yticks(range(len(shown)), named, fontsize=7.5)
        ax.set_ylim(len(shown) - 0.5, -0.5)

    few = any(c.seeds < FEWEST for c in shown)
    panel = _panel(
        "differences",
        "Differences",
        "The first arm minus the second at the end, interquartile means on the same seeds; bars: "
        "95 % interval" + (", dotted: range of few seeds." if few else "."),
        draw,
        xlabel="difference in " + ("normalised return" if shown[0].normal else "return"),
    )
    lines = 2 if len(envs) == 1 else 3
    panel.figure.set_size_inches(4.8, max(1.6, 0.24 * lines * len(shown) + 0.8))
    yield panel


def _against(study: Study, field: str, label: str, purpose: str) -> Iterator[Panel]:
    """Final returns against a setting that was varied."""
    groups: dict[tuple[str, str], list[list[Result]]] = {}
    for runs in cells(_for(study, purpose)).values():
        if field == "critics" or runs[0].critics > 1:
            groups.setdefault((runs[0].env, runs[0].base), []).append(runs)
    for (env, base), sides in groups.items():
        if len({getattr(runs[0], field) for runs in sides}) < 3:
            continue

        def draw(ax: Axes, sides: list[list[Result]] = sides) -> None:
            lines: dict[int, list[list[Result]]] = {}
            for runs in sides:
                lines.setdefault(runs[0].critics if field == "sigma" else 0, []).append(runs)
            for n, (critics, line) in enumerate(sorted(lines.items())):
                line = sorted(line, key=lambda runs: getattr(runs[0], field))
                x = np.array([getattr(runs[0], field) for runs in line], float)
                means = [mean_interval(final(runs)) for runs in line]
                made = Interval(*(np.array(part) for part in zip(*means, strict=True)))
                name = f"L = {critics}" if critics else ""
                band(ax, x, made, COLOURS[n], name, False)
                for runs, at in zip(line, x, strict=True):
                    ax.plot(np.full(len(runs), at), final(runs), ".", color=COLOURS[n], ms=4)
            ax.set_xscale("log")

        yield _panel(
            f"{field}-{env}-{base}-{purpose}",
            _section(field, purpose),
            f"{base} on {env}: returns at the end; dots: seeds, line: mean"
            + (". These seeds chose the clip value." if purpose == "selection" else "."),
            draw,
            xlabel=label,
            ylabel="normalised return" if is_normal([r for s in sides for r in s]) else "return",
        )


def _section(field: str, purpose: str) -> str:
    if purpose == "selection":
        return "Selection"
    return "Number of critics" if field == "critics" else "Clip values"


def _exploration(content: dict[str, Any], number: int) -> Iterator[Panel]:
    """Two panels: the mixture, and the policy of each iteration."""
    for policy, name in tabular.POLICIES.items():

        def draw(ax: Axes, policy: str = policy) -> None:
            tabular.draw(ax, content, policy)

        yield _panel(
            f"exploration-{number}-{name.replace(' ', '-')}",
            "Hard exploration",
            f"{content['task']['mdp']}: cost of the {tabular.SPOKEN[policy]}; lower is better. "
            f"Mean and 95 % over {len(content['seeds'])} seeds.",
            draw,
            xlabel="MDP samples",
            ylabel="cost from the start",
        )
