"""A study's figures: small ones, a panel each, so that a page can lay them out for any screen."""

from collections.abc import Iterator, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from soar_il.figures.style import COLOURS, INK, PANEL, band
from soar_il.files import Fields
from soar_il.report import learning, tabular
from soar_il.report.arm_tables import over_environments
from soar_il.report.compare import Comparison
from soar_il.report.panel import Panel, colours_of, of_purpose, panel
from soar_il.report.results import (
    Result,
    Study,
    cells,
    final,
    is_normal,
)
from soar_il.statistics import aggregate
from soar_il.statistics.intervals import FEWEST, Interval, mean_interval

MOST = 12  # comparisons in a figure


def panels(study: Study, compared: Sequence[Comparison]) -> Iterator[Panel]:
    """All that the results allow."""
    with plt.rc_context(PANEL):
        yield from learning.learning(study, "report")
        yield from learning.average(study)
        yield from _aggregates(study)
        yield from _profiles(study)
        yield from _differences(compared)
        yield from _against(study, "critics", "number of pairs of critics L", "report")
        yield from _against(study, "sigma", "clip value sigma", "report")
        for number, content in enumerate(study.studies):
            yield from _exploration(content, number)
        yield from learning.learning(study, "selection")
        yield from _against(study, "sigma", "clip value sigma", "selection")


def _aggregates(study: Study) -> Iterator[Panel]:
    rows, colours = over_environments(study.results), colours_of(study.results)
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

    yield panel(
        "aggregate",
        "Aggregates",
        "Circles: interquartile mean, squares: mean, over all environments, at the end; "
        "95 % stratified bootstrap where there are five seeds.",
        draw,
        xlabel="normalised return",
    )


def _profiles(study: Study) -> Iterator[Panel]:
    rows, colours = over_environments(study.results), colours_of(study.results)
    if not rows:
        return

    def draw(ax: Axes) -> None:
        top = max(1.1, *(float(scores.max()) for _, scores, _ in rows))
        tau = np.linspace(0, top, 111)
        for n, (label, scores, _) in enumerate(rows):
            made = aggregate.bootstrap(lambda x: aggregate.profile(x, tau), scores, resamples=500)
            colour = colours.get(label, COLOURS[n % len(COLOURS)])
            band(ax, tau, made, colour, label, "SOAR" not in label)

    yield panel(
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
    made = panel(
        "differences",
        "Differences",
        "The first arm minus the second at the end, interquartile means on the same seeds; bars: "
        "95 % interval" + (", dotted: range of few seeds." if few else "."),
        draw,
        xlabel="difference in " + ("normalised return" if shown[0].normal else "return"),
    )
    lines = 2 if len(envs) == 1 else 3
    made.figure.set_size_inches(4.8, max(1.6, 0.24 * lines * len(shown) + 0.8))
    yield made


def _against(study: Study, field: str, label: str, purpose: str) -> Iterator[Panel]:
    """Final returns against a setting that was varied."""
    groups: dict[tuple[str, str], list[list[Result]]] = {}
    for runs in cells(of_purpose(study, purpose)).values():
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

        yield panel(
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


def _exploration(content: Fields, number: int) -> Iterator[Panel]:
    """Two panels: the mixture, and the policy of each iteration."""
    for policy, name in tabular.POLICIES.items():

        def draw(ax: Axes, policy: str = policy) -> None:
            tabular.draw(ax, content, policy)

        yield panel(
            f"exploration-{number}-{name.replace(' ', '-')}",
            "Hard exploration",
            f"{content['task']['mdp']}: cost of the {tabular.SPOKEN[policy]}; lower is better. "
            f"Mean and 95 % over {len(content['seeds'])} seeds.",
            draw,
            xlabel="MDP samples",
            ylabel="cost from the start",
        )
