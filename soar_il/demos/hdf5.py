"""Demonstrations in HDF5 files: D4RL's flat arrays, or a group for each episode.

Nothing in a file can make this run code or read another file: links out of it, numbers kept
elsewhere, objects and packing by plug-ins are refused. The file is parsed by HDF5's C library.
"""

import re
from pathlib import Path
from typing import Any

from soar_il.demos import named, safe
from soar_il.demos.format import Demos
from soar_il.demos.named import Array, Choice, Keys
from soar_il.demos.validate import naming
from soar_il.errors import DemoError

INSTALL = "pip install 'soar-il[minari]', which brings h5py"
DEEPEST = 4  # groups within groups
MOST_ENTRIES = 500_000
FILTERS = {1, 2, 3, 4, 5, 6, 32000}  # what every HDF5 has, and lzf
BROKEN = (OSError, KeyError, ValueError, RuntimeError, TypeError, AttributeError, OverflowError)


def read(path: Path | str, keys: Keys | None = None, shift: int = 0) -> Demos:
    """Arrays at the top, or else the groups that have observations, in the order of their names."""
    with naming(path):
        h5py = _h5py()
        with safe.regular(Path(path)) as (_, size):
            pass
        try:
            with h5py.File(path, "r", locking=False) as file:
                several, choices, one = _arrays(_Reader(h5py, size), file, keys)
        except BROKEN as error:
            raise DemoError(f"is not a usable HDF5 file ({error})", do=safe.AGAIN) from None
        made = named.demos(several, {"source": Path(path).name}, shift, one)
    named.say_what_is_left_out(choices, path)
    return named.suspect(made, path)


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise DemoError("h5py is not installed, which reads HDF5", do=INSTALL) from None
    return h5py


def _arrays(
    reader: "_Reader", file: Any, keys: Keys | None
) -> tuple[list[dict[str, Array]], list[Choice], bool]:
    """What each set of arrays holds, how it was chosen, and whether each is one episode."""
    groups, top = reader.groups(file), reader.datasets(file)
    if _has_observations(top, keys):
        choice = named.choose(top, keys)
        return [reader.read(top, choice)], [choice], False
    for container in (file, *groups.values()):
        held = {name: reader.datasets(group) for name, group in reader.groups(container).items()}
        episodes = {name: held[name] for name in sorted(held, key=_natural)
                    if _has_observations(held[name], keys)}  # fmt: skip
        if episodes:
            choices = [named.choose(found, keys) for found in episodes.values()]
            pairs = zip(episodes.values(), choices, strict=True)
            return [reader.read(found, choice) for found, choice in pairs], choices, True
    there = ", ".join(list(top or groups)[: named.MOST_NAMES]) or "nothing"
    raise DemoError(
        f"has no observations; there is {there}",
        do=f"call them one of {', '.join(named.NAMES['observations'])}, or say what they are "
        "called: --keys observations=NAME (NAME within an episode's group, such as obs/state; A+B "
        "for two side by side)",
    )


def _has_observations(held: dict[str, Any], keys: Keys | None) -> bool:
    if keys and "observations" in keys:
        return all(part in held for part in named.parts(keys["observations"], held))
    aliases = named.NAMES["observations"]
    grouped = [name for name in held if name.split("/")[0] in aliases and "/" in name]
    return not grouped and any(name in held for name in aliases)


def _natural(name: str) -> list[Any]:
    """episode_10 after episode_9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


class _Reader:
    """Counts what it looks at, and refuses what would be read from elsewhere or grow."""

    def __init__(self, h5py: Any, size: int) -> None:
        self.h5py, self.entries = h5py, 0
        self.room = max(safe.FREE_INFLATION, safe.MOST_INFLATION * size)

    def _children(self, group: Any) -> dict[str, Any]:
        children = {}
        for name in group:
            self.entries += 1
            if self.entries > MOST_ENTRIES:
                raise DemoError(f"has more than {MOST_ENTRIES:,} entries", do=safe.AGAIN)
            if isinstance(group.get(name, getlink=True), self.h5py.HardLink):
                children[name] = group[name]
        return children

    def groups(self, group: Any) -> dict[str, Any]:
        return {k: v for k, v in self._children(group).items() if isinstance(v, self.h5py.Group)}

    def datasets(self, group: Any, prefix: str = "", depth: int = 0) -> dict[str, Any]:
        """By their names from ``group`` on, such as actions or obs/state."""
        found: dict[str, Any] = {}
        for name, child in self._children(group).items():
            if isinstance(child, self.h5py.Dataset):
                found[prefix + name] = child
            elif isinstance(child, self.h5py.Group) and depth + 1 < DEEPEST:
                found |= self.datasets(child, f"{prefix}{name}/", depth + 1)
        return found

    def read(self, held: dict[str, Any], choice: Choice) -> dict[str, Array]:
        return {
            field: named.side_by_side(
                field, [self._array(part, held[part]) for part in named.parts(name, held)]
            )
            for field, name in choice.fields.items()
        }

    def _array(self, name: str, data: Any) -> Array:
        with naming(name):
            if data.dtype.kind not in "fiub":
                raise DemoError(f"holds {data.dtype}", do="give arrays of plain numbers")
            if data.external or data.is_virtual:
                raise DemoError("keeps its numbers in another file", do="copy them into this one")
            plan = data.id.get_create_plist()
            if not {plan.get_filter(i)[0] for i in range(plan.get_nfilters())} <= FILTERS:
                raise DemoError("is packed in a way that needs a plug-in", do="pack it with gzip")
            self.room -= data.size * data.dtype.itemsize
            if data.ndim > 3 or self.room < 0:
                raise DemoError(f"announces shape {data.shape}, beyond the file", do=safe.AGAIN)
            array: Array = data[()]
            return array
