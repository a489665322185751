"""One panel of a report: a small figure with its name, caption and legend."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from soar_il.figures.style import COLOURS
from soar_il.report.results import (
    Result,
    Study,
    cells,
)


class Panel(NamedTuple):
    """A figure with its file's name and what a reader should know."""

    name: str
    section: str
    caption: str
    figure: Figure


def panel(
    name: str, section: str, caption: str, draw: Callable[[Axes], None], **labels: Any
) -> Panel:
    """A figure of one panel, its legend below the axes."""
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


def of_purpose(study: Study, purpose: str) -> list[Result]:
    """The runs that report, or those that chose a setting."""
    return [r for r in study.results if r.purpose == purpose]


def colours_of(results: Sequence[Result]) -> dict[str, str]:
    """A colour for each label, the same in every figure of a page."""
    keys = sorted(cells(results), key=lambda key: key[2])  # what is reported comes first
    labels = dict.fromkeys(key[1] for key in keys)
    return {label: COLOURS[n % len(COLOURS)] for n, label in enumerate(labels)}
