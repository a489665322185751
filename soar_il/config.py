"""Settings from TOML: strict, typed, with errors that name the key."""

import dataclasses
import math
import tomllib
import typing
from importlib import resources
from pathlib import Path
from typing import Any, Literal, TypeVar

from soar_il import files
from soar_il.errors import ConfigError, StorageError, closest
from soar_il.files import Fields

T = TypeVar("T")
Termination = Literal["absorbing", "fixed", "early"]  # how the end of an episode is treated
MEND = "mend what is named; is it the right file?"


def from_mapping(cls: type[T], mapping: Fields, where: str) -> T:
    """A dataclass from a mapping: unknown keys and wrong types are errors, not surprises."""
    hints = typing.get_type_hints(cls)
    values = {}
    for key, value in mapping.items():
        if key not in hints:
            raise ConfigError(f"unknown setting {key!r}", where, closest(key, hints))
        values[key] = _typed(hints[key], value, f"{where}: {key}")
    fields = dataclasses.fields(typing.cast(Any, cls))
    absent = [f.name for f in fields if needed(f) and f.name not in values]
    if absent:
        raise ConfigError(f"lacks {', '.join(absent)}", where, "give what is lacking")
    return cls(**values)


def needed(field: dataclasses.Field[Any]) -> bool:
    """Whether it has no value unless one is given."""
    return field.default is field.default_factory is dataclasses.MISSING


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


def read_toml(path: Path) -> Fields:
    """The content of a TOML file."""
    try:
        return tomllib.loads(files.read(path, files.MOST_JSON).decode())
    except StorageError as error:
        raise ConfigError(error.what, str(path), error.do) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"is not valid TOML: {error}", str(path), MEND) from None
    except RecursionError:
        raise ConfigError("is not valid TOML: nested too deep", str(path), MEND) from None


def preset(cls: type[T], kind: str, name: str) -> T:
    """A shipped preset, or a TOML file of the user's own when ``name`` ends in .toml."""
    where = name if name.endswith(".toml") else f"preset {kind}/{name}"
    return from_mapping(cls, preset_mapping(kind, name), where)


def preset_mapping(kind: str, name: str) -> Fields:
    """A preset as nested mappings, laid over the one that it extends."""
    if name.endswith(".toml"):
        mapping = read_toml(Path(name))
    else:
        rooms = {f.name: f for f in (resources.files("soar_il") / "presets").iterdir()}
        if kind not in rooms:
            raise ConfigError(f"no presets are of {kind!r}", name, closest(kind, rooms))
        folder = rooms[kind]
        shipped = {f.name.removesuffix(".toml"): f for f in folder.iterdir()}
        if name not in shipped:
            raise ConfigError(f"no {kind} preset is called {name!r}", do=closest(name, shipped))
        mapping = tomllib.loads(shipped[name].read_text(encoding="utf-8"))
    under = mapping.pop("extends", None)
    if under is None:
        return mapping
    if not isinstance(under, str) or under.count("/") != 1:
        what = f"extends is {under!r}"
        raise ConfigError(what, name, 'name a shipped preset, such as "ml-irl/tuned"')
    return merged(preset_mapping(*under.split("/")), mapping)


def merged(under: Fields, over: Fields) -> Fields:
    """Nested mappings, one laid over the other."""
    both = dict(under)
    for key, value in over.items():
        inner = isinstance(value, dict) and isinstance(both.get(key), dict)
        both[key] = merged(both[key], value) if inner else value
    return both


def flat(nested: Fields, prefix: str = "") -> Fields:
    """learner.alpha in the place of {learner: {alpha: ...}}."""
    named: Fields = {}
    for name, value in nested.items():
        inner = isinstance(value, dict)
        named |= flat(value, f"{prefix}{name}.") if inner else {f"{prefix}{name}": value}
    return named


def package_toml(name: str) -> Fields:
    """A TOML file that is shipped inside the package."""
    return tomllib.loads((resources.files("soar_il") / name).read_text(encoding="utf-8"))


def check_range(
    settings: Any,
    names: tuple[str, ...],
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
) -> None:
    """Each setting, or each of its elements, is finite and within these bounds, or a ConfigError.

    Args:
        settings: A dataclass.
        names: Which of its fields; a tuple may not be empty.
        least: The smallest that is allowed.
        above: It has to be above this.
        most: The largest that is allowed.
        below: It has to be below this.
    """
    low = -math.inf if least is None else least
    high = math.inf if most is None else most
    for name in names:
        value = getattr(settings, name)
        for x in value if isinstance(value, tuple) else (value,):
            fine = low <= x <= high and math.isfinite(x)
            fine = fine and (above is None or x > above) and (below is None or x < below)
            if not fine:
                raise ConfigError(
                    f"{name} is {value}", do=f"give {_bounds(least, above, most, below)}"
                )
        if value == ():
            raise ConfigError(f"{name} is empty", do="give sizes such as [256, 256]")


def _bounds(
    least: float | None, above: float | None, most: float | None, below: float | None
) -> str:
    low = f"at least {least:g}" if least is not None else f"more than {above:g}"
    if most is None and below is None:
        return low
    return f"{low} and " + (f"at most {most:g}" if most is not None else f"less than {below:g}")


def only_read_with(settings: Any, names: tuple[str, ...], what: str) -> None:
    """A setting that something else switches off may not be given another value: an error says so.

    Args:
        settings: A dataclass.
        names: Fields that are not read.
        what: With which they would be.
    """
    defaults = {f.name: f.default for f in dataclasses.fields(settings)}
    for name in names:
        if getattr(settings, name) != defaults[name]:
            raise ConfigError(f"{name} is read with {what} only", do=f"leave {name} out")
