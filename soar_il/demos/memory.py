"""Demonstrations that are in memory: trajectories of other libraries, dictionaries, arrays."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from soar_il.demos import named
from soar_il.demos.format import Demos
from soar_il.demos.named import Array, Keys
from soar_il.demos.validate import plain
from soar_il.errors import DemoError

CUT_BY_TIME = "TimeLimit.truncated"  # what Stable-Baselines3's environments put into infos


def read(source: Any, keys: Keys | None = None, shift: int = 0) -> Demos:
    """A dictionary of arrays, a list of trajectories, or a list of arrays of observations.

    A trajectory is an object or a dictionary with observations and, if there are any, actions and
    end flags under the usual names, as the package imitation has them; or a pair (observations,
    actions).
    """
    if isinstance(source, Mapping):
        choice = named.choose(map(str, source), keys)
        named.say_what_is_left_out([choice], "the dictionary")
        return named.suspect(
            named.demos([_of_mapping(source, choice)], {}, shift), "demonstrations"
        )
    if isinstance(source, np.ndarray):
        named.refuse_keys(keys, "an array")
        return Demos.from_arrays(source, shift=shift)
    if not isinstance(source, Sequence) or not len(source):
        raise DemoError(
            f"is {type(source).__name__}, of no known kind"
            if not isinstance(source, Sequence)
            else "is empty",
            "demonstrations",
            "give a path, a list of trajectories with obs, acts and terminal, a dictionary of "
            "arrays, or a list of arrays",
        )
    if all(_is_array(part) for part in source):
        named.refuse_keys(keys, "a list of arrays")
        return Demos.from_arrays(list(source), shift=shift)
    several = [_trajectory(i, part, keys) for i, part in enumerate(source)]
    return named.suspect(named.demos(several, {}, shift, one=True), "demonstrations")


def _is_array(part: Any) -> bool:
    """Rows of numbers; a pair of arrays is a trajectory, and no array."""
    if isinstance(part, np.ndarray):
        return True
    return isinstance(part, list) and len(part) > 0 and not np.ndim(part[0]) > 1


def _trajectory(i: int, part: Any, keys: Keys | None) -> dict[str, Array]:
    if isinstance(part, Mapping):
        return _of_mapping(part, named.choose(map(str, part), keys))
    if isinstance(part, tuple) and not hasattr(part, "_fields"):
        if len(part) != 2:
            raise DemoError(
                f"is {len(part)} things", f"trajectory {i}", "give (observations, actions)"
            )
        return dict(zip(("observations", "actions"), map(np.asarray, part), strict=True))
    aliases = {alias for names in named.NAMES.values() for alias in names}
    wanted = aliases | set((keys or {}).values())
    held = {name: getattr(part, name) for name in sorted(wanted) if hasattr(part, name)}
    held = {name: value for name, value in held.items() if value is not None}
    arrays = _of_mapping(held, named.choose(held, keys))
    cut = _cut_by_time(getattr(part, "infos", None))
    return arrays if cut is None or "truncated" in arrays else arrays | {"truncated": cut}


def _of_mapping(held: Mapping[Any, Any], choice: named.Choice) -> dict[str, Array]:
    return {
        field: named.side_by_side(
            field, [plain(held[part], part) for part in named.parts(name, held)]
        )
        for field, name in choice.fields.items()
        if held[named.parts(name, held)[0]] is not None
    }


def _cut_by_time(infos: Any) -> Array | None:
    """Whether a time limit ended the trajectory, where its last info says so."""
    if not isinstance(infos, list | tuple | np.ndarray) or not len(infos):
        return None
    last = infos[-1]
    known = isinstance(last, Mapping) and CUT_BY_TIME in last
    return np.array(bool(last[CUT_BY_TIME])) if known else None
