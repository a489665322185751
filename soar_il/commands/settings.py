"""``soar settings``: every setting of a run, its value, and what it means."""

import dataclasses
from typing import Annotated, Any

import tyro


def settings(
    base: Annotated[str, tyro.conf.Positional] = "ml-irl",
    env: str = "Hopper-v5",
    preset: str = "tuned",
    algorithm: str = "sac",
) -> None:
    """Show all settings of a base method, with their values and meanings.

    Change one with --set, for example: soar train --base ml-irl --set learner.alpha=0.1

    Args:
        base: The base method.
        env: The environment; a preset may have other values for it.
        preset: tuned, paper, or a TOML file of your own.
        algorithm: The actor-critic: sac or td3.
    """
    from rich.table import Table

    from soar_il.configure import resolve
    from soar_il.terminal.progress import console

    cfg = resolve(base, env, preset, algorithm=algorithm)
    for room, values in (("", cfg), ("learner.", cfg.learner), ("cost.", cfg.cost)):
        table = Table("setting", "value", "type", "meaning", title=title(room, cfg))
        for row in rows(room, values):
            table.add_row(*row)
        console.print(table)


def title(room: str, cfg: Any) -> str:
    """What a table of settings is about."""
    names = {"": "the run", "learner.": f"the learner, {cfg.algorithm}", "cost.": cfg.base}
    return f"Settings of {names[room]}"


def rows(room: str, values: Any) -> list[tuple[str, str, str, str]]:
    """Name, value, type and meaning of each field of a settings dataclass."""
    known = meanings(type(values))
    return [
        (f"{room}{f.name}", shown(getattr(values, f.name)), kind(f.type), known.get(f.name, ""))
        for f in dataclasses.fields(values)
        if f.name not in ("learner", "cost")
    ]


def meanings(settings: type) -> dict[str, str]:
    """The documented arguments of a dataclass and of those it extends."""
    from docstring_parser import parse

    found: dict[str, str] = {}
    for owner in reversed(settings.__mro__):
        for argument in parse(owner.__doc__ or "").params:
            found[argument.arg_name] = " ".join((argument.description or "").split())
    return found


def shown(value: Any) -> str:
    """As TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(list(value)) if isinstance(value, tuple) else str(value)


def kind(hint: Any) -> str:
    """A type as a user knows it."""
    text = hint if isinstance(hint, str) else getattr(hint, "__name__", str(hint))
    if text == "Literal":
        return " | ".join(map(str, hint.__args__))
    return {"bool": "true | false", "int": "whole number", "float": "number"}.get(
        text, "list of sizes" if "tuple" in text else text
    )
