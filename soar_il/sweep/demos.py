"""Where a sweep finds demonstrations: by the environment's name."""

import hashlib
from importlib import resources
from pathlib import Path

from soar_il.errors import DemoError


def places(env: str) -> tuple[Path, ...]:
    """The user's own first, then what comes with the package."""
    shipped = Path(str(resources.files("soar_il") / "demos" / "shipped"))
    name = f"{env}.demos"
    return Path("demos") / name, Path(name), shipped / name


def find(env: str) -> Path | None:
    return next((path for path in places(env) if path.exists()), None)


def digest(path: Path) -> str:
    """Of the manifest, which vouches for the rest, or of the file."""
    file = path / "manifest.json" if path.is_dir() else path
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise DemoError(f"cannot be read ({error.strerror})", str(file)) from None
