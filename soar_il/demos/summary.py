"""What a person wants to see of demonstrations."""

from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from soar_il.demos.alone import duplicates
from soar_il.demos.check import spaces
from soar_il.demos.format import Demos
from soar_il.errors import DemoError

AT_BOUND = 0.02  # of the box's width: a squashed Gaussian never quite gets there
MOST_FEATURES = 40  # more cannot be read


def info(demos: Demos, env_id: str | None = None) -> list[tuple[str, str]]:
    """Rows (what, value); with an environment also against its bounds."""
    short, middle, long = demos.lengths.min(), np.median(demos.lengths), demos.lengths.max()
    ended = float(demos.terminated.mean())
    unknown = demos.about.get("ends") == "unknown"
    rows = [
        ("trajectories", f"{len(demos):,}"),
        ("transitions", f"{demos.transitions:,}"),
        ("lengths: min, median, max", f"{short:,}, {middle:,.0f}, {long:,}"),
        ("ended by termination", "unknown" if unknown else f"{ended:.0%}"),
        ("observations", f"{demos.observation_size} features"),
        ("actions", "none" if demos.action_size is None else f"{demos.action_size} features"),
    ]
    bounds = None if env_id is None else spaces(env_id)
    if demos.actions is not None:
        box = None if bounds is None else bounds[1]
        label = "actions near an extreme of the data" if box is None else "actions near a bound"
        rows.append((label, f"{saturation(demos, box):.1%}"))
    rows.append(("repeated trajectories", f"{len(duplicates(demos)):,}"))
    states = np.concatenate(demos.observations)[:, :MOST_FEATURES]
    for i, (low, high) in enumerate(zip(states.min(axis=0), states.max(axis=0), strict=True)):
        text = f"{low:.4g} to {high:.4g}"
        if bounds is not None and np.isfinite([bounds[0].low[i], bounds[0].high[i]]).any():
            text += f" (space: {bounds[0].low[i]:g} to {bounds[0].high[i]:g})"
        rows.append((f"observation {i}", text))
    if demos.observation_size > MOST_FEATURES:
        rows.append(("other observations", f"{demos.observation_size - MOST_FEATURES} features"))
    rows += [(f"about: {key}", str(value)) for key, value in demos.about.items()]
    return [*rows, ("hash", demos.hash[:16])]


def saturation(demos: Demos, box: Any = None) -> float:
    """Share of action entries near a bound of the box, without one near the data's extremes."""
    if demos.actions is None:
        raise DemoError("has no actions", do="give demonstrations with actions")
    taken = np.concatenate(demos.actions)
    low, high = (taken.min(axis=0), taken.max(axis=0)) if box is None else (box.low, box.high)
    room = AT_BOUND * (high - low)
    return float(((taken <= low + room) | (taken >= high - room)).mean())


def table(rows: list[tuple[str, str]], title: str = "") -> Table:
    """The rows for the terminal."""
    shown = Table(title=title or None, show_header=False)
    shown.add_column("what", no_wrap=True)
    shown.add_column("value", overflow="fold")
    for row in rows:
        shown.add_row(*map(escape, row))
    return shown


def figure(demos: Demos, path: Path | str, title: str = "") -> Path:
    """Lengths, actions and observation ranges, saved as the suffix of ``path`` says."""
    from matplotlib.figure import Figure

    path = Path(path)
    parts = 2 if demos.actions is None else 3
    drawn = Figure(figsize=(4.2 * parts, 3.4), layout="constrained")
    axes = drawn.subplots(1, parts)
    axes[0].hist(demos.lengths, bins=min(30, max(5, len(demos))), color="0.4")
    axes[0].set(title="lengths", xlabel="transitions", ylabel="trajectories")
    states = np.concatenate(demos.observations)[:, :MOST_FEATURES]
    middle = np.percentile(states, [0, 5, 50, 95, 100], axis=0)
    _ranges(axes[1], middle, demos.observation_size)
    if demos.actions is not None:
        for i, column in enumerate(np.concatenate(demos.actions).T[:MOST_FEATURES]):
            axes[2].hist(column, bins=50, histtype="step", label=str(i))
        axes[2].set(title="actions", xlabel="value", ylabel="steps")
        if demos.action_size is not None and demos.action_size <= 8:
            axes[2].legend(title="dimension", fontsize="small")
    drawn.suptitle(title)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        drawn.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise DemoError(f"cannot be drawn ({error})", str(path), "end it in .png or .svg") from None
    return path


def _ranges(axes: Any, percentiles: np.ndarray, size: int) -> None:
    x = np.arange(percentiles.shape[1])
    axes.vlines(x, percentiles[0], percentiles[4], color="0.7")
    axes.vlines(x, percentiles[1], percentiles[3], color="0.2", linewidth=3)
    axes.plot(x, percentiles[2], "o", color="w", markeredgecolor="0.2", markersize=4)
    shown = "" if len(x) == size else f", first {len(x)} of {size}"
    axes.set(title=f"observations{shown}", xlabel="dimension", yscale="symlog")
    axes.set_ylabel("range, middle 90%, median")
