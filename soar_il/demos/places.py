"""Where demonstrations of an environment are, when only its name is given."""

from importlib import resources
from pathlib import Path

from soar_il.envs.ids import file_name
from soar_il.errors import DemoError


def places(env: str) -> tuple[Path, ...]:
    """The user's own first, then what comes with the package."""
    shipped = Path(str(resources.files("soar_il") / "demos" / "shipped"))
    name = f"{file_name(env)}.demos"
    return Path("demos") / name, Path(name), shipped / name


def known(env: str) -> Path | None:
    return next((path for path in places(env) if path.exists()), None)


def find(env: str) -> Path:
    path = known(env)
    if path is None:
        raise DemoError(
            f"there are no demonstrations of {env} here and none are shipped",
            do=f"give --demos with a file of yours, or {how_to_record(env)}",
        )
    return path


def how_to_record(env: str) -> str:
    """Of the shipped expert, where there is one, or of a policy of one's own."""
    name, run = file_name(env), f"results/experts/{file_name(env)}-seed0"
    if (resources.files("soar_il") / "experts" / "policies" / f"{name}.json").is_file():
        return f"make {name}.demos with `soar demos record {name}`"
    return (
        f"make {name}.demos from a policy of yours: soar_il.record(env, policy, n) in Python, or "
        f"`soar expert train {env}` and then `soar demos record --run {run}`"
    )
