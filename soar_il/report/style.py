"""How every figure looks, and how it is kept: SVG and PNG."""

import io
import re
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from soar_il.report.stats import Interval

STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "svg.hashsalt": "soar-il",
}

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#7f7f7f")

# Text and axes of a panel: in a page this colour gives way to that of the page's own text.
INK = "#1b1c1d"
PANEL: dict[Any, Any] = STYLE | {
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "grid.color"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color"), INK),
    "svg.fonttype": "none",
}


def band(ax: Axes, x: np.ndarray, made: Interval, colour: str, label: str, dashed: bool) -> None:
    """A line and, where there is one, its interval."""
    ax.plot(x, made.value, "--" if dashed else "-", color=colour, lw=1.6, label=label)
    if np.all(np.isfinite(made.low)):
        ax.fill_between(x, made.low, made.high, color=colour, alpha=0.18, lw=0)


def save(figure: Figure, folder: Path, name: str) -> Path:
    """Both formats; the path of the PNG."""
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    figure.savefig(folder / f"{name}.png", dpi=200)
    plt.close(figure)
    return folder / f"{name}.png"


def inline(figure: Figure) -> str:
    """The figure as SVG for the inside of a page, in the page's own colours; it stays open."""
    made = io.StringIO()
    figure.savefig(made, format="svg", transparent=True, metadata={"Date": None})
    svg = made.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r' (?:width|height)="[\d.]+pt"', "", svg, count=2)
    return svg.replace(INK, "currentColor")
