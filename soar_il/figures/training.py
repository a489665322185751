"""What a training run looked like."""

from itertools import cycle
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from soar_il.figures.style import COLOURS, STYLE, roomy, save
from soar_il.files import Fields

Records = list[Fields]


def training_figure(metrics: Records, scores: Records, title: str, path: Path) -> Path:
    """The true return, if it was evaluated, above what the learner itself could see."""
    panels = (
        ("cost_gap", "cost gap: learner minus expert"),
        ("q_spread", "spread of the L critics"),
        ("clipped", "share of states with the spread clipped"),
    )
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(2, 2, figsize=(8, 5), layout="constrained", sharex=True)
        top = axes[0, 0]
        for name, label in (("return", "deterministic"), ("stochastic_return", "stochastic")):
            top.plot([r["steps"] for r in scores], [r[name] for r in scores], ".-", label=label)
        top.set_title("true return (never seen by the learner)", fontsize=9)
        if scores:
            _references(top, scores)
            roomy(top, False)
            top.legend(fontsize=8)
        for ax, (name, label) in zip(axes.flat[1:], panels, strict=True):
            known = [r for r in metrics if name in r]
            ax.plot([r["steps"] for r in known], [r[name] for r in known])
            ax.set_title(label, fontsize=9)
        for ax in axes[1]:
            ax.set_xlabel("environment steps")
        figure.suptitle(title, fontsize=9)
        return save(figure, path.parent, path.name)


def live_figure(curves: dict[str, dict[str, list[Records]]], path: Path) -> Path:
    """The true returns of runs that are not over yet, a panel an environment, as a PNG."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(
            1, len(curves), figsize=(4.5 * len(curves), 3), layout="constrained", squeeze=False
        )
        for ax, (env, arms) in zip(axes.flat, curves.items(), strict=True):
            for colour, (label, runs) in zip(cycle(COLOURS), arms.items()):
                for n, scores in enumerate(runs):
                    steps, returns = zip(*((r["steps"], r["return"]) for r in scores), strict=True)
                    ax.plot(steps, returns, ".-", color=colour, label=label if n == 0 else None)
            _references(ax, [r for runs in arms.values() for scores in runs for r in scores])
            roomy(ax, False)
            ax.set_title(env, fontsize=9)
            ax.set_xlabel("environment steps")
        axes[0, 0].set_ylabel("true return (never seen by the learner)", fontsize=8)
        axes[0, 0].legend(fontsize=8)
        made = path.with_name(path.name + ".new.png")
        figure.savefig(made, dpi=110)
        plt.close(figure)
        return made.replace(path.with_suffix(".png"))  # whoever looks finds a whole file


def _references(ax: Axes, scores: Records) -> None:
    """The returns of the expert and of random play, which normalised returns imply."""
    known = [r for r in scores if r.get("normalised") is not None]
    low, high = (pick(known, key=lambda r: r["return"], default=None) for pick in (min, max))
    if low is None or high is None or low["normalised"] == high["normalised"]:
        return
    scale = (high["return"] - low["return"]) / (high["normalised"] - low["normalised"])
    random = low["return"] - scale * low["normalised"]
    ax.axhline(random + scale, color="grey", lw=0.8, ls=":", label="expert")
    ax.axhline(random, color="grey", lw=0.8, ls="--", label="random")


def experts_figure(cards: dict[str, Fields], paper: dict[str, float], path: Path) -> Path:
    """How each expert was trained, the policy that was kept, and the paper's expert."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(
            1, len(cards), figsize=(2.6 * len(cards), 2.6), layout="constrained", squeeze=False
        )
        for ax, (env, card) in zip(axes.flat, cards.items(), strict=True):
            steps, deterministic, stochastic = zip(*card["curve"], strict=True)
            millions = [n / 1e6 for n in steps]
            ax.plot(millions, stochastic, alpha=0.5, label="stochastic")
            ax.plot(millions, deterministic, label="deterministic")
            ax.plot(card["steps"] / 1e6, card["return"], "o", label="kept")
            if env in paper:
                ax.axhline(paper[env], linestyle="--", color="grey", label="the paper's")
            ax.set_title(env, fontsize=9)
            ax.set_xlabel("million steps")
        axes[0, 0].set_ylabel("true return")
        axes[0, -1].legend(fontsize=7)
        return save(figure, path.parent, path.name)
