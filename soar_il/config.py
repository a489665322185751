"""Settings from TOML: strict, typed, with errors that name the key."""

import dataclasses
import tomllib
import typing
from importlib import resources
from pathlib import Path
from typing import Any, Literal, TypeVar

from soar_il.errors import ConfigError, closest

T = TypeVar("T")


def from_mapping(cls: type[T], mapping: dict[str, Any], where: str) -> T:
    """A dataclass from a mapping: unknown keys and wrong types are errors, not surprises."""
    hints = typing.get_type_hints(cls)
    values = {}
    for key, value in mapping.items():
        if key not in hints:
            raise ConfigError(f"unknown setting {key!r}", where, closest(key, hints))
        values[key] = _typed(hints[key], value, f"{where}: {key}")
    try:
        return cls(**values)
    except TypeError as error:
        raise ConfigError(str(error), where) from None


def _typed(hint: Any, value: Any, where: str) -> Any:
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        return from_mapping(typing.cast(type, hint), value, where)
    if typing.get_origin(hint) is Literal:
        options = typing.get_args(hint)
        if value not in options:
            raise ConfigError(f"is {value!r}", where, closest(str(value), map(str, options)))
        return value
    if hint is float and type(value) in (int, float):
        return float(value)
    if typing.get_origin(hint) is tuple:
        inner, _ = typing.get_args(hint)
        if type(value) not in (list, tuple):
            raise ConfigError(f"is {value!r}", where, "give a list")
        return tuple(_typed(inner, item, where) for item in value)
    if type(value) is not hint:
        raise ConfigError(f"is {value!r}", where, f"give a value of type {hint.__name__}")
    return value


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot be read ({error.strerror})", str(path)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"is not valid TOML: {error}", str(path)) from None


def preset(cls: type[T], kind: str, name: str) -> T:
    """A shipped preset, or a TOML file of the user's own when ``name`` ends in .toml."""
    where = name if name.endswith(".toml") else f"preset {kind}/{name}"
    return from_mapping(cls, preset_mapping(kind, name), where)


def preset_mapping(kind: str, name: str) -> dict[str, Any]:
    """The same as a mapping."""
    if name.endswith(".toml"):
        return read_toml(Path(name))
    folder = resources.files("soar_il") / "presets" / kind
    known = {f.name.removesuffix(".toml"): f for f in folder.iterdir() if f.name.endswith(".toml")}
    if name not in known:
        raise ConfigError(f"no {kind} preset is called {name!r}", do=closest(name, known))
    return tomllib.loads(known[name].read_text(encoding="utf-8"))


def package_toml(name: str) -> dict[str, Any]:
    """A TOML file that is shipped inside the package."""
    return tomllib.loads((resources.files("soar_il") / name).read_text(encoding="utf-8"))
