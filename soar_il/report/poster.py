"""One wide figure for a README: returns against environment steps, a panel an environment."""

from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, NullFormatter

from soar_il.config import read_toml
from soar_il.errors import ConfigError
from soar_il.figures.style import COLOURS, INK, PANEL, band, roomy
from soar_il.report.compare import THRESHOLD
from soar_il.report.results import Result, Study, cells, curves, grid, is_normal
from soar_il.statistics import aggregate

COLUMNS = 3
SHAPES = "osD^vPX"


class Mark(NamedTuple):
    """When a method of others was at THRESHOLD of its expert; ``source`` says where that stands."""

    env: str
    method: str
    steps: float
    source: str


def marks(path: Path) -> list[Mark]:
    """Of a TOML file: [[marks]] with env, method, steps and source."""
    found = []
    for said in read_toml(path).get("marks", []):
        if set(said) != set(Mark._fields) or type(said["steps"]) not in (int, float):
            do = f"give {', '.join(Mark._fields)}, and nothing else; steps is a number"
            raise ConfigError(f"a mark has {', '.join(said)}", str(path), do)
        found.append(Mark(**said))
    return found


def write(study: Study, path: Path, known: list[Mark]) -> Path:
    """A PNG, or an SVG; with marks, which lie far to the right, steps are on a log scale."""
    if path.suffix not in (".png", ".svg"):
        raise ConfigError("is neither .png nor .svg", str(path), "name the figure so")
    by_env: dict[str, list[list[Result]]] = {}
    for (env, _, purpose), runs in cells(study.results).items():
        if purpose == "report" and not runs[0].stepless:
            by_env.setdefault(env, []).append(runs)
    if not by_env:
        raise ConfigError("there is no run to draw", ", ".join(study.titles), "give other folders")
    labels = dict.fromkeys(runs[0].label for sides in by_env.values() for runs in sides)
    colours = {label: COLOURS[n % len(COLOURS)] for n, label in enumerate(labels)}
    shapes = {
        m: SHAPES[n % len(SHAPES)] for n, m in enumerate(dict.fromkeys(m.method for m in known))
    }
    columns = min(COLUMNS, len(by_env))
    rows = -(-len(by_env) // columns)
    path.parent.mkdir(parents=True, exist_ok=True)
    with plt.rc_context(PANEL):
        figure, axes = plt.subplots(
            rows, columns, figsize=(3.5 * columns, 2.6 * rows + 0.7), layout="constrained",
            squeeze=False, sharey=is_normal(study.results),
        )  # fmt: skip
        for ax, (env, sides) in zip(axes.flat, by_env.items(), strict=False):
            _curves(ax, sides, colours)
            _marks(ax, [mark for mark in known if mark.env == env], shapes)
            _dress(ax, env, sides)
            if known:
                _logarithmic(
                    ax, [r for runs in by_env.values() for side in runs for r in side], known
                )
        entries = {
            label: entry
            for ax in axes.flat[: len(by_env)]
            for entry, label in zip(*ax.get_legend_handles_labels(), strict=True)
        }
        entries = {
            label: entries.pop(label) for label in labels
        } | entries  # what ran here is first
        for ax in axes.flat[len(by_env) :]:
            ax.axis("off")
        for row in axes:
            row[0].set_ylabel("normalised return" if is_normal(study.results) else "return")
        figure.legend(
            entries.values(), entries.keys(), loc="outside lower center", ncols=4, fontsize=8
        )
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
        plt.close(figure)
        return path


def _curves(ax: Axes, sides: list[list[Result]], colours: dict[str, str]) -> None:
    """The interquartile mean of each arm, its interval, and each run where they are few."""
    for runs in sides:
        at, colour = grid(runs), colours[runs[0].label]
        made = curves(runs, at)
        middle = aggregate.bootstrap(aggregate.iqm_curve, made[:, None], resamples=500)
        band(ax, at, middle, colour, runs[0].label, runs[0].critics == 1)
        if len(runs) > 1:
            ax.plot(at, made.T, color=colour, lw=0.5, alpha=0.5)


def _marks(ax: Axes, known: list[Mark], shapes: dict[str, str]) -> None:
    for mark in known:
        shape = shapes[mark.method]
        ax.plot(mark.steps, THRESHOLD, shape, color=INK, mfc="none", ms=6, label=mark.method)


def _dress(ax: Axes, env: str, sides: list[list[Result]]) -> None:
    """Title, and the lines of the expert and of what counts as there."""
    normal = is_normal([r for runs in sides for r in runs])
    for height, style in ((1, ":"), (THRESHOLD, "--")) if normal else ():
        ax.axhline(height, color=INK, lw=0.7, ls=style, alpha=0.7)
    if normal:
        ax.annotate("expert", (0.01, 1), (0, 2), ax.get_yaxis_transform(),
                    textcoords="offset points", fontsize=7)  # fmt: skip
    ax.xaxis.set_major_formatter(EngFormatter(sep=""))
    roomy(ax, normal)
    ax.set_title(f"{env}, {_seeds(sides)}", fontsize=9)
    ax.set_xlabel("environment steps")


def _logarithmic(ax: Axes, runs: list[Result], known: list[Mark]) -> None:
    """The same steps in every panel, from the first evaluation to the last mark."""
    ax.set_xscale("log")
    last = max([r.steps[-1] for r in runs] + [mark.steps for mark in known])
    ax.set_xlim(min(r.steps[r.steps > 0][0] for r in runs), 1.15 * last)
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_major_formatter(EngFormatter(sep=""))
    ax.set_xlabel("environment steps, log scale")


def _seeds(sides: list[list[Result]]) -> str:
    counts = sorted({len(runs) for runs in sides})
    many = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
    return f"{many} seed{'s' * (counts[-1] != 1)}"
