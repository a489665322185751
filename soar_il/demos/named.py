"""Arrays under names, as files and dictionaries hold them, made demonstrations."""

import warnings
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from soar_il.demos import align, ends, layout
from soar_il.demos.format import Demos
from soar_il.demos.validate import FloatArray, is_reward, numbers
from soar_il.errors import DemoError, DemoWarning, closest
from soar_il.files import Fields

Array = np.ndarray
Keys = Mapping[str, str]

NAMES = {  # what we call it: what files call it
    "observations": ("observations", "obs", "states"),
    "actions": ("actions", "acts"),
    "next_observations": ("next_observations", "next_obs", "next_states"),
    "lengths": ("lengths",),
    "mask": ("mask", "masks"),
    "terminated": ("terminated", "terminals", "terminations"),
    "truncated": ("truncated", "timeouts", "truncations"),
    "done": ("dones", "done", "terminal"),
    "ends": ("ends", "episode_ends"),
    "starts": ("starts", "episode_starts"),
    "splits": (),  # chosen beside "terminal" alone: see choose()
}
SAME = 1e-5  # how exactly a next observation is that of the next row
MOST_NAMES = 20  # in a message


class Choice(NamedTuple):
    """Which name holds which field, and what is left out."""

    fields: dict[str, str]
    rewards: list[str]
    others: list[str]


class Pieces(NamedTuple):
    """One array for each trajectory, and whether the environment ended it, where that is known."""

    observations: list[FloatArray]
    actions: list[FloatArray] | None
    terminated: list[bool] | None


def parse_keys(text: str) -> dict[str, str]:
    """``observations=state,actions=u`` as a mapping from our names to those of a file."""
    keys: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        field, equals, name = (piece.strip() for piece in part.partition("="))
        if not (field and equals and name):
            raise DemoError(f"{part!r} is no pair", "keys", "write observations=state,actions=u")
        if field in keys:
            raise DemoError(f"gives {field} twice", "keys", "keep one of them")
        keys[field] = name
    check_keys(keys)
    return keys


def check_keys(keys: Keys | None) -> Keys:
    """Fields that there are."""
    for field in keys or {}:
        if field not in NAMES:
            raise DemoError(f"{field!r} is not a field", "keys", closest(field, NAMES))
    return keys or {}


def refuse_keys(keys: Keys | None, kind: str) -> None:
    """For a kind of data that has names of its own."""
    if keys:
        raise DemoError(f"given for {kind}, whose names are fixed", "keys", "leave keys out")


def choose(names: Iterable[str], keys: Keys | None = None) -> Choice:
    """What ``keys`` says, then the names that are understood."""
    names = list(names)
    keys = check_keys(keys)
    fields: dict[str, str] = {}
    for field, name in keys.items():
        for part in parts(name, names):
            if part not in names:
                raise DemoError(f"no array is called {part!r}", "keys", closest(part, names))
            if is_reward(part):
                raise DemoError(f"{part!r} are rewards", "keys", "demonstrations carry no rewards")
        fields[field] = name
    claimed = {part for name in fields.values() for part in parts(name, names)}
    known = {alias: field for field, aliases in NAMES.items() for alias in aliases}
    if "terminal" in names:  # as the package imitation saves
        known["indices"] = "splits"
    for name in names:
        field_of = known.get(name)
        if field_of is None or name in claimed or field_of in keys:
            continue
        if field_of in fields:
            raise DemoError(f"{name} repeats {field_of}", do=f"keep one of {NAMES[field_of]}")
        fields[field_of] = name
    left = [name for name in names if name not in claimed | set(fields.values())]
    rewards = [name for name in left if is_reward(name)]
    return Choice(fields, rewards, [name for name in left if name not in rewards])


def parts(name: str, names: Iterable[str]) -> list[str]:
    """``a+b`` stands for two arrays side by side, where nothing has that very name."""
    return [name] if name in names else name.split("+")


def side_by_side(field: str, arrays: list[Array]) -> Array:
    """Arrays with the same rows as one."""
    if len(arrays) == 1:
        return arrays[0]
    if len({array.shape[:-1] for array in arrays}) > 1 or arrays[0].ndim < 2:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise DemoError(f"cannot be joined of shapes {shapes}", field, "join arrays [rows, size]")
    return np.concatenate(arrays, axis=-1)


def say_what_is_left_out(choices: Iterable[Choice], path: object) -> None:
    """One warning for rewards and one for names that are not understood."""
    choices = list(choices)
    rewards = list(dict.fromkeys(name for choice in choices for name in choice.rewards))
    others = list(dict.fromkeys(name for choice in choices for name in choice.others))
    for left, why in (
        (rewards, "demonstrations carry no rewards"),
        (others, "not names that are understood"),
    ):
        if left:
            more = f" and {len(left) - MOST_NAMES} more" if len(left) > MOST_NAMES else ""
            shown = ", ".join(left[:MOST_NAMES]) + more
            warnings.warn(f"{path}: left out {shown}: {why}", DemoWarning, stacklevel=2)


def demos(
    several: list[dict[str, Array]], about: Fields, shift: int = 0, one: bool = False
) -> Demos:
    """From arrays by field: one set of all trajectories, or with ``one`` a set for each."""
    if not several:
        raise DemoError("no trajectory", do="give at least one")
    cut: list[Pieces] = []
    for i, arrays in enumerate(several):
        try:
            cut.append(pieces(arrays, one))
        except DemoError as error:
            where = f"trajectory {i}, {error.where}" if one else error.where
            raise DemoError(error.what, where.rstrip(", "), error.do) from None
    if len({part.actions is None for part in cut}) > 1:
        raise DemoError("some have actions, some have none", do="give them for all or for none")
    known = [part.terminated is not None for part in cut]
    if any(known) and not all(known):
        about = {"ends": "partly unknown"} | about
    return Demos.from_arrays(
        [states for part in cut for states in part.observations],
        None if cut[0].actions is None else [a for part in cut for a in part.actions or []],
        terminated=[
            ended for part in cut for ended in part.terminated or [False] * len(part.observations)
        ]
        if any(known)
        else None,
        about=about,
        shift=shift,
    )


def suspect(made: Demos, path: object) -> Demos:
    """The demonstrations, with a warning if their actions seem to belong to other states."""
    if wrong := align.suspicion(made):
        warnings.warn(f"{path}: {wrong[0]} ({wrong[1]})", DemoWarning, stacklevel=2)
    return made


def pieces(arrays: dict[str, Array], one: bool = False) -> Pieces:
    """Trajectories from [N, T, d] arrays or flat [sum, d] ones; ``one``: flat is one trajectory."""
    states, taken = arrays.get("observations"), arrays.get("actions")
    after = arrays.get("next_observations")
    if states is None:
        raise DemoError(
            "has no observations",
            do=f"call them one of {', '.join(NAMES['observations'])}, or say what they are called: "
            "--keys observations=NAME",
        )
    steps = next(x for x in (taken, after, states) if x is not None)
    n = len(states) if states.ndim == 3 else None
    if steps.ndim != states.ndim or steps.ndim not in (2, 3):
        raise DemoError(
            f"observations {states.shape} and actions {steps.shape} are no known layout",
            do="give [N, T, d] arrays, or flat [sum, d] ones with lengths or ends",
        )
    flags = ends.Flags(**{name: arrays.get(name) for name in ends.Flags.__dataclass_fields__})
    state_only = taken is None and after is None
    lengths, terminated = ends.resolve(flags, n, steps.shape[n is not None], state_only, one)
    ended = None if terminated is None else terminated.tolist()
    if after is None:
        return Pieces(*layout.cut(states, taken, lengths), ended)
    return _with_successors(states, taken, after, lengths, ended)


def _with_successors(
    states: Array, taken: Array | None, after: Array, lengths: Any, ended: list[bool] | None
) -> Pieces:
    """Row t is (s_t, a_t, s_{t+1}): nothing is lost, and a row that does not go on is an end."""
    if after.shape != states.shape or (taken is not None and len(taken) != len(states)):
        raise DemoError(
            f"have shape {after.shape}, observations {states.shape}",
            "next_observations",
            "give as many of both, and of actions: row t is s_t, a_t and s_{t+1}",
        )
    flat = states.ndim == 2
    lengths = lengths or ([len(states)] if flat else [states.shape[1]] * len(states))
    s, a, then = (
        None if x is None else _rows(field, x, lengths)
        for field, x in (("observations", states), ("actions", taken), ("next_observations", after))
    )
    assert s is not None
    assert then is not None
    made = Pieces([], None if a is None else [], None if ended is None else [])
    broken = 0
    for i in range(len(lengths)):
        goes_on = np.isclose(then[i][:-1], s[i][1:], SAME, SAME, equal_nan=True).all(axis=1)
        breaks = np.flatnonzero(~goes_on) + 1
        broken += len(breaks)
        for start, stop in zip([0, *breaks], [*breaks, lengths[i]], strict=True):
            made.observations.append(np.concatenate([s[i][start:stop], then[i][stop - 1 : stop]]))
            if a is not None and made.actions is not None:
                made.actions.append(a[i][start:stop])
            if ended is not None and made.terminated is not None:
                made.terminated.append(ended[i] and stop == lengths[i])
    if broken:
        warnings.warn(
            f"next_observations are not the next row's observations at {broken} places where no "
            "end is marked: cut there",
            DemoWarning,
            stacklevel=2,
        )
    return made


def _rows(field: str, array: Array, lengths: list[int]) -> list[FloatArray]:
    """The rows of each trajectory."""
    given = numbers(array, field)
    if given.ndim == 3:
        return [rows[:length] for rows, length in zip(given, lengths, strict=True)]
    if sum(lengths) != len(given):
        raise DemoError(
            f"has {len(given)} rows, the lengths add up to {sum(lengths)}",
            field,
            "lengths counts the transitions of each trajectory",
        )
    return np.split(given, np.cumsum(lengths)[:-1])
