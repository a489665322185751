"""What a job may be: a ``soar`` command, as its own signature describes it.

The table of them is made by the command line (``soar_il/commands/sweep.py``), which knows the
commands; a sweep knows none by name.
"""

import dataclasses
import inspect
import types
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from soar_il.configure import SHORT, Config
from soar_il.errors import ConfigError, closest
from soar_il.files import Fields

Options = Fields
Resolve = Callable[[Options, Fields], Config]  # of options and nested settings

# The sweep chooses the folder, and writes settings as options and arguments into the env's name.
NOT_A_JOB_S = ("out", "settings", "env_args")
ALIASES = {name: f"learner.{name}" for name in SHORT}  # options that are settings too


@dataclasses.dataclass(frozen=True)
class Kind:
    """A command and what a sweep must know of it.

    Args:
        name: What follows ``soar``.
        options: Its options with their defaults.
        hints: The types of its options.
        needs: Options that every job has to give, although the command has a default.
        positional: Options that it takes without their name.
        resolve: The settings that it arrives at; None where it has none, and then it neither takes
            ``--set`` nor can be resumed.
    """

    name: str
    options: Options
    hints: dict[str, Any] = dataclasses.field(default_factory=dict)
    needs: tuple[str, ...] = ()
    positional: tuple[str, ...] = ()
    resolve: Resolve | None = None

    @property
    def resumes(self) -> bool:
        """Whether `soar resume` goes on with what was interrupted; else it is begun again."""
        return self.resolve is not None

    def settings(self) -> frozenset[str]:
        """What may be given to ``--set``: these, and what is inside them, as learner.alpha."""
        if self.resolve is None:
            return frozenset()
        fields = {field.name for field in dataclasses.fields(Config)}
        return frozenset(fields - self.options.keys() - {"env", "base"})

    def check(self, name: str, value: Any, where: str) -> None:
        """The name is one of an option or a setting, and an option's value of its type."""
        if name in self.options:
            hint = self.hints.get(name, Any)
            if not fits(hint, value):
                wanted = f"give a value of type {shown(hint)}"
                raise ConfigError(f"{name} is {value!r}", where, wanted)
        elif name.split(".")[0] not in self.settings():
            known = {*self.options, *self.settings()}
            raise ConfigError(f"{self.name} has no option {name!r}", where, closest(name, known))

    def nested(self, options: Options) -> Fields:
        """The settings among the options, nested as a preset has them."""
        nested: Fields = {}
        known = {field.name for field in dataclasses.fields(Config)} - {"env", "base"}
        for name, value in options.items():
            *path, last = ALIASES.get(name, name).split(".")
            if (path or [last])[0] not in known:
                continue
            room = nested
            for part in path:
                room = room.setdefault(part, {})
            room[last] = value
        return nested


def kind(name: str, command: Callable[..., None], **more: Any) -> Kind:
    """The kind of job that this command is."""
    parameters = {
        key: parameter
        for key, parameter in inspect.signature(command).parameters.items()
        if key not in NOT_A_JOB_S
    }
    defaults = {
        key: None if parameter.default is parameter.empty else parameter.default
        for key, parameter in parameters.items()
    }
    hints = {key: parameter.annotation for key, parameter in parameters.items()}
    bare = tuple(key for key, p in parameters.items() if p.default is p.empty)
    return Kind(name, defaults, hints, positional=bare, **more)


def fits(hint: Any, value: Any) -> bool:
    """Whether a value of TOML is one of a parameter; what is not understood is let through."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return fits(inner[0], value)
    if origin in (Union, types.UnionType):
        return any(fits(part, value) for part in inner)
    if origin is Literal:
        return value in inner
    if origin is tuple:
        values = value if isinstance(value, list) else [value]
        return all(fits(inner[0], item) for item in values)
    if hint is float:
        return type(value) in (int, float)
    if hint in (int, bool, str):
        return type(value) is hint
    if hint is Path:
        return isinstance(value, str)
    return hint is not type(None)


def shown(hint: Any) -> str:
    """A type as a person says it."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return shown(inner[0])
    if origin in (Union, types.UnionType):
        return " or ".join(shown(part) for part in inner if part is not type(None))
    if origin is Literal:
        return " or ".join(map(repr, inner))
    if origin is tuple:
        return f"list of {shown(inner[0])}"
    return "str" if hint is Path else getattr(hint, "__name__", str(hint))
