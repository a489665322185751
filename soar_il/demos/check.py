"""Every check of demonstrations against an environment, and which of them could be made."""

from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np

from soar_il import provenance
from soar_il.demos import align, fit, motion, starts
from soar_il.demos.alone import Check, Notice, data_alone
from soar_il.demos.format import Demos
from soar_il.demos.probe import Probe, probe
from soar_il.envs import blind
from soar_il.errors import DemoError, EnvError

SHOWN = 6  # coordinates in a message


def check(demos: Demos, env: blind.Source, strict: bool = False) -> list[Notice]:
    """Raise on what cannot be right in that environment, return what only looks wrong.

    ``strict``: the first notice is raised too.
    """
    found = [notice for made in examine(demos, env) for notice in made.found]
    if strict:
        raise_first(found)
    return found


def raise_first(found: list[Notice]) -> None:
    """The first notice as an error, if there is one."""
    if found:
        raise DemoError(found[0].what, found[0].where, found[0].do)


def examine(demos: Demos, env: blind.Source) -> list[Check]:
    """Every check, made or not; raises on what cannot be right."""
    made, name = _make(env), blind.name_of(env)
    try:
        _require_fit(demos, made, name)
        seen = probe(made)
        limit = made.spec.max_episode_steps if made.spec else None
    finally:
        if not isinstance(env, gymnasium.Env):
            made.close()
    known = motion.usable(motion.rules(seen), motion.rows(demos))
    checks = [Check("sizes and bounds"), data_alone(demos), _ends(demos, limit, name)]
    checks += [_starts(demos, seen), _scale(demos, seen, known)]
    checks += [*_movement(demos, known, name, scaled=bool(checks[-1].found))]
    return [*checks, _pairs(demos, seen, known), *_simulator(demos, made)]


def spaces(env: blind.Source) -> tuple[Any, Any]:
    """The boxes of observations and actions."""
    made = _make(env)
    if not isinstance(env, gymnasium.Env):
        made.close()
    return made.observation_space, made.action_space


def _make(source: blind.Source) -> Any:
    name = blind.name_of(source)
    try:
        env = blind.flattened(blind.make(source))
    except EnvError as error:
        what = (
            error.what if error.what.startswith("cannot be") else f"cannot be made ({error.what})"
        )
        do = error.do or "install what it needs, or give another environment"
        raise DemoError(what, name, do) from None
    for kind in ("observation_space", "action_space"):
        space = getattr(env, kind)
        if not isinstance(space, gymnasium.spaces.Box) or len(space.shape) != 1:
            env.close()
            raise DemoError(
                f"is {space}", f"{name}, {kind}", "choose an environment whose spaces are vectors"
            )
    return env


def _require_fit(demos: Demos, env: Any, name: str) -> None:
    """As training does, and observations too are held against their space."""
    fit.require_same_env(demos, name)
    for field, arrays, space in (
        ("observations", demos.observations, env.observation_space),
        ("actions", demos.actions, env.action_space),
    ):
        if arrays is not None:
            fit.require_size(field, arrays[0].shape[1], space.shape[0], name)
            fit.require_inside(field, arrays, space.low, space.high, name)


def _simulator(demos: Demos, env: Any) -> Iterator[Check]:
    """Where both are MuJoCo's: another version of it moves the same bodies a little otherwise."""
    then = demos.about.get("versions")
    if env.spec is None or "mujoco" not in str(env.spec.entry_point) or not isinstance(then, dict):
        return
    here, there = provenance.versions()["mujoco"], then.get("mujoco")
    wrong = Notice(
        f"recorded with MuJoCo {there}, here is {here}",
        "about.versions",
        "the same actions may lead elsewhere here, and what these states show may be out of reach: "
        f"record them again, or install mujoco=={there}",
    )
    yield Check("the simulator's version", (wrong,) if there not in (None, here) else ())


def _in_pieces(demos: Demos) -> bool:
    """Whether these are pieces of episodes, which begin and end anywhere."""
    return any("subsample" in str(x) for x in demos.about.get("history", []))


def _needs(demos: Demos, transitions: float) -> str:
    wanted = int(np.ceil(transitions / demos.lengths.mean()))
    return f"not enough data: needs {max(wanted, len(demos) + 1):,} episodes"


def _ends(demos: Demos, limit: int | None, name: str) -> Check:
    this = "ends of episodes"
    if limit is None or _in_pieces(demos):
        lacking = "the pieces are subsampled" if limit else f"{name} has no time limit"
        return Check(this, lacking=lacking)
    found = []
    long = np.flatnonzero(demos.lengths > limit)
    if len(long):
        found.append(
            Notice(
                f"{len(long)} of {len(demos)} are longer than the {limit} steps of {name}",
                f"trajectory {long[0]}",
                "were they recorded under another time limit, or past a termination?",
            )
        )
    # one short is what a shift or a missing final observation costs
    short = np.flatnonzero(~demos.terminated & (demos.lengths < limit - 1))
    if len(short):
        found.append(
            Notice(
                f"{len(short)} of {len(demos)} neither terminated nor reached {limit} steps",
                f"trajectory {short[0]}",
                "mark their ends in `terminated`, if the environment ended them",
            )
        )
    return Check(this, tuple(found))


def _starts(demos: Demos, seen: Probe) -> Check:
    this = "start states"
    if _in_pieces(demos):
        return Check(this, lacking="the pieces are subsampled")
    apart = starts.distance(demos, seen)
    far = np.flatnonzero(apart.episodes > starts.FAR)
    if not len(far):
        return Check(this)
    worst = int(apart.farthest[far[0]])
    value = float(demos.observations[far[0]][0, worst])
    return Check(this, (
        Notice(
            f"{len(far)} of {len(demos)} episodes begin outside of what reset() gives, by "
            f"{np.median(apart.episodes[far]):.2g} times its width: coordinate {worst} is "
            f"{value:.4g}, reset() gives {apart.low[worst]:.4g} to {apart.high[worst]:.4g}",
            f"trajectory {far[0]}, step 0",
            "other units, another order, normalised, reversed, or pieces of episodes?",
        ),
    ))  # fmt: skip


def _scale(demos: Demos, seen: Probe, known: list[motion.Rule]) -> Check:
    this = "scale"
    told = None if _in_pieces(demos) else starts.factor(demos, seen)
    if told is None:
        by_action = motion.factor(known, demos)
        told = None if by_action is None else (by_action, [])
    if told is None:
        short = len(demos) < starts.FEWEST and not _in_pieces(demos)
        needs = f"not enough data: needs {starts.FEWEST} episodes"
        return Check(this, lacking=needs if short else "neither starts nor actions tell it")
    times, where = told
    if times == 1.0:
        return Check(this)
    return Check(this, (
        Notice(
            f"numbers are about {times:.3g} times those of the environment",
            f"observations{_listed(where) if len(where) < demos.observation_size else ''}",
            f"{starts.unit(times)} Multiply by {1 / times:.3g}",
        ),
    ))  # fmt: skip


def _listed(coordinates: list[int]) -> str:
    more = ", ..." if len(coordinates) > SHOWN else ""
    return f"[{', '.join(map(str, coordinates[:SHOWN]))}{more}]" if coordinates else ""


def _movement(demos: Demos, known: list[motion.Rule], name: str, scaled: bool) -> Iterator[Check]:
    """The direction of time, then the order of coordinates; one cause is named, not both."""
    names = "direction of time", "order of coordinates"
    lacking = ""
    if not known:
        lacking = f"no simple rule shows in random steps of {name}"
    elif demos.transitions < motion.FEWEST:
        lacking = _needs(demos, motion.FEWEST)
    if lacking:
        yield from (Check(this, lacking=lacking) for this in names)
        return
    given = motion.rows(demos)
    if motion.time_reversed(known, given):
        wrong = Notice("time looks reversed", "", "give each trajectory from s_0 to s_T")
        yield Check(names[0], (wrong,))
        yield Check(names[1], lacking="time is to be mended first")
        return
    order = None if scaled else motion.order(known, given)
    lost = order is None and not scaled and motion.unlawful(known, given)
    wrong = Notice(
        "states do not follow from each other as in the environment",
        "",
        "is time shuffled, are steps left out, or are coordinates in another order?",
    )
    yield Check(names[0], (wrong,) if lost else ())
    if order is None:
        yield Check(names[1], lacking="the scale is to be mended first" if scaled else "")
        return
    moved = [i for i, j in enumerate(order) if i != j]
    yield Check(names[1], (
        Notice(
            f"coordinates {', '.join(map(str, moved))} look exchanged: as "
            f"{', '.join(str(order[i]) for i in moved)} they move as the environment's do",
            "observations",
            f"put them into the order of {name}",
        ),
    ))  # fmt: skip


def _pairs(demos: Demos, seen: Probe, known: list[motion.Rule]) -> Check:
    this = "actions beside their states"
    if demos.actions is None:
        return Check(this, lacking="there are no actions")
    alone, late = align.shift(demos), motion.late_actions(known, demos)
    recorded = motion.recorded_late(seen, demos)
    if alone is None and late is None and recorded is None:
        return Check(this, lacking=_needs(demos, align.needed(demos)))
    by = alone or late or int(bool(recorded))
    if by == 0:
        return Check(this)
    what, do = align.SAID[by]
    return Check(this, (Notice(what, "actions", do),))
