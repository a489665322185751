"""Where demonstrations of an environment are, when only its name is given."""

from importlib import resources
from pathlib import Path

from soar_il.errors import DemoError


def places(env: str) -> tuple[Path, ...]:
    """The user's own first, then what comes with the package."""
    shipped = Path(str(resources.files("soar_il") / "demos" / "shipped"))
    name = f"{env}.demos"
    return Path("demos") / name, Path(name), shipped / name


def known(env: str) -> Path | None:
    return next((path for path in places(env) if path.exists()), None)


def find(env: str) -> Path:
    path = known(env)
    if path is None:
        raise DemoError(
            f"there are no demonstrations of {env} here and none are shipped",
            do=f"give --demos, or make {env}.demos with `soar demos record {env}`",
        )
    return path
