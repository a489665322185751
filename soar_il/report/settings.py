"""The settings of a study: first those in which its arms differ, the rest folded away."""

from typing import Any

from soar_il import config
from soar_il.report import arms
from soar_il.report.results import Missing, Result, Study
from soar_il.report.table import Table

MANY = 12  # rows, beyond which they are folded away: two base methods share few settings
Column = tuple[str, dict[str, str]]


def tables(study: Study) -> list[Table]:
    """What differs, a column for each arm; and what is the same everywhere."""
    columns = _columns(study)
    if not columns:
        return []
    names = sorted({name for _, flat in columns for name in flat})
    varied = [n for n in names if len({flat.get(n, "-") for _, flat in columns}) > 1]
    made = []
    if varied:
        rows = tuple((n, *(flat.get(n, "-") for _, flat in columns)) for n in varied)
        head = ("setting", *(name for name, _ in columns))
        folded = bool(study.results) and len(rows) > MANY
        made.append(Table("settings", "Settings that differ", head, rows, folded=folded))
    same = tuple((n, columns[0][1].get(n, "-")) for n in names if n not in varied)
    if same:
        title = f"The {len(same)} settings that are the same everywhere"
        folded = bool(study.results)  # without runs the settings are the result
        made.append(Table("settings-same", title, ("setting", "value"), same, folded=folded))
    return made


def _columns(study: Study) -> list[Column]:
    """One for each arm, or for each arm and environment where those have settings of their own."""
    runs: list[Result | Missing] = [*study.results, *study.missing]
    said = [(r.label, r.env, r.settings) for r in runs if "learner" in r.settings]
    known = [settings for _, _, settings in said]
    for settings in study.settings:
        if settings not in known:
            named = arms.label(settings["base"], settings["learner"]["critics"])
            said.append((named, settings["env"], settings))
    by_arm: dict[str, dict[str, dict[str, str]]] = {}  # label, then environment
    for label, env, settings in said:
        flat = {
            name: _text(value)
            for name, value in config.flat(settings).items()
            if name not in ("seed", "env")
        }
        by_arm.setdefault(label, {}).setdefault(env, flat)
    columns: list[Column] = []
    for label, by_env in by_arm.items():
        kinds = {str(sorted(flat.items())) for flat in by_env.values()}
        for env, flat in by_env.items():
            columns.append((label if len(kinds) == 1 else f"{label}, {env}", flat))
            if len(kinds) == 1:
                break
    return columns


def _text(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else f"{value}"
