"""``plan.json``: how far a run is to go and how it is watched, for ``soar resume``."""

from pathlib import Path

from soar_il import files
from soar_il.errors import StorageError
from soar_il.files import Fields
from soar_il.seal import seal, unsealed

NAME = "plan.json"
TYPES: dict[str, type] = {
    "steps": int,
    "evaluate_every": int,
    "episodes": int,
    "checkpoint_every": int,
}
TYPES |= {"tensorboard": bool, "wandb": str}
LATER = {"wandb": ""}  # what earlier plans do not say


def write(folder: Path, plan: Fields) -> None:
    files.write_atomically(folder / NAME, seal(plan, "sha256", indent=1))


def read(folder: Path) -> Fields:
    """What ``write`` wrote; StorageError if it was damaged since."""
    path = folder / NAME
    if not path.exists():
        what = f"has no {NAME}: it was not begun by a command, or was killed before its first step"
        raise StorageError(what, str(folder), "begin it again, or use Imitator.load")
    plan = LATER | unsealed(path)
    wrong = [name for name in {*TYPES, *plan} if type(plan.get(name)) is not TYPES.get(name)]
    if wrong:
        what = f"{', '.join(sorted(wrong))}: missing, unknown or of the wrong type"
        raise StorageError(what, str(path), files.DAMAGED)
    return plan
