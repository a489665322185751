"""The experiment files that come with the package, by name."""

from importlib import resources
from pathlib import Path

from soar_il.errors import ConfigError, closest

FOLDER = "experiments"


def folder() -> Path:
    """Inside the package; in a checkout they lie beside it."""
    package = Path(str(resources.files("soar_il")))
    inside = package / FOLDER
    return inside if inside.is_dir() else package.parent / FOLDER


def names() -> list[str]:
    """What `soar sweep NAME` knows: figures and tables of the paper, and others."""
    return sorted(path.stem for path in folder().glob("*.toml"))


def find(asked: Path) -> Path:
    """A file of the user's own, else the shipped one: first, or experiments/first.toml."""
    if asked.is_file():
        return asked
    known = names()
    by_name = asked.parent == Path() or asked.parent.name == FOLDER
    if by_name and asked.name.removesuffix(".toml") in known:
        return folder() / f"{asked.name.removesuffix('.toml')}.toml"
    do = f"give a file, or a name that `soar sweep --list` has: {closest(asked.stem, known)}"
    raise ConfigError("there is no such file", str(asked), do)
