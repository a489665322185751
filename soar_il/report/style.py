"""How every figure looks, and how it is kept: SVG and PNG."""

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "svg.hashsalt": "soar-il",
}


def save(figure: Figure, folder: Path, name: str) -> Path:
    """Both formats; the path of the PNG."""
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    figure.savefig(folder / f"{name}.png", dpi=200)
    plt.close(figure)
    return folder / f"{name}.png"
