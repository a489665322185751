"""The tabular figures, as SVG and PNG."""

import math
from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from soar_il.figures.style import STYLE, save
from soar_il.files import Fields
from soar_il.report import tabular
from soar_il.statistics.intervals import mean_interval
from soar_il.tabular.studies.rate import Point, slope


def ablation_figure(content: Fields, title: str, folder: Path) -> Path:
    """Cost against MDP samples, one line for each L: of the mixture, and of the policy itself."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
        for ax, (policy, spoken) in zip(axes, tabular.SPOKEN.items(), strict=True):
            tabular.draw(ax, content, policy)
            ax.set_xlabel("MDP samples")
            ax.set_title(spoken, fontsize=9)
        axes[0].set_ylabel("cost from the start (lower is better)")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center", fontsize=8)
        figure.suptitle(title, fontsize=9)
        return save(figure, folder, "ablation")


def regret_figure(measured: dict[str, list[Point]], title: str, folder: Path) -> Path:
    """Regret(K) / K against K with the bound, and what the regret of the first MDP is made of."""
    with plt.rc_context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
        for number, (name, points) in enumerate(measured.items()):
            colour = f"C{number}"
            ks = np.array([p.iterations for p in points])
            mean, low, high = mean_interval(
                np.stack([p.regret / p.iterations for p in points], axis=1)
            )
            fitted = f", slope {slope(points).value:.2f}" if len(points) > 1 else ""
            left.plot(ks, mean, "o-", color=colour, ms=3, lw=1.2, label=name + fitted)
            left.fill_between(ks, low, high, color=colour, alpha=0.15, lw=0)
            bounds = np.array([p.bound / p.iterations for p in points])
            if np.all(np.isfinite(bounds)):
                left.plot(ks, bounds, "--", color=colour, lw=0.8, label=f"{name}, bound")
        reference = np.array([min(ks), max(ks)], dtype=float)
        start = mean[0] * math.sqrt(reference[0])
        left.plot(reference, start / np.sqrt(reference), ":", color="grey", label="$K^{-1/2}$")
        left.set(xscale="log", yscale="log", xlabel="K", ylabel="Regret(K) / K")
        left.legend(fontsize=6.5, loc="upper left", bbox_to_anchor=(0.0, -0.18), ncols=2)
        _terms(right, *next(iter(measured.items())))
        figure.suptitle(title, fontsize=9)
        return save(figure, folder, "regret")


def _terms(ax: Axes, name: str, points: Sequence[Point]) -> None:
    ks = [p.iterations for p in points]
    for term, style in (
        ("policy", "C0-"),
        ("btrl", "C0:"),
        ("optimism", "C0--"),
        ("shift", "C0-."),
        ("cost", "C1-"),
        ("gradient", "C1:"),
        ("sampling", "C1--"),
        ("expert", "C1-."),
    ):
        ax.plot(
            ks, [p.terms[term].mean() / p.iterations for p in points], style, lw=1.2, label=term
        )
    ax.axhline(0, color="black", lw=0.6)
    ax.set(xscale="log", xlabel="K", ylabel="term of Regret(K) / K")
    ax.set_title(f"{name}: policy regret (blue) and cost regret (orange)", fontsize=9)
    ax.legend(fontsize=6.5, loc="upper left", bbox_to_anchor=(0.0, -0.18), ncols=4)
