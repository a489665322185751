"""What a return is measured against: 0 is a random policy, 1 the expert.

For environments with a shipped expert both are on its card. Elsewhere a random policy is measured
once and kept beside the runs, and so is an expert that is written by hand; else the expert's return
is what the user gives, or what the demonstrations' provenance holds as ``expert_return``.
"""

import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path

from soar_il import files
from soar_il.errors import ConfigError, SoarError, StorageError
from soar_il.evaluation.score import Evaluator, shipped
from soar_il.experts import scripted
from soar_il.experts.record import of_script
from soar_il.files import Fields
from soar_il.report.results import Reference, Result, Study

NAME = "random-returns.json"  # in the folder of a sweep or of runs
EPISODES = 20


def given(values: Iterable[str]) -> dict[str, float]:
    """``3500``, or ``Own-v0=12`` for one of several environments; "" stands for every one."""
    found: dict[str, float] = {}
    for text in values:
        env, _, number = text.rpartition("=")
        try:
            found[env] = float(number)
        except ValueError:
            found[env] = math.nan
        if not math.isfinite(found[env]):
            do = "give a number, or ENV=NUMBER for one of several environments"
            raise ConfigError(f"--expert-return {text}", do=do)
    return found


def find(results: Iterable[Result], folder: Path, told: dict[str, float]) -> dict[str, Reference]:
    """By environment, from what is on disk and what was told; nothing is measured here."""
    kept = _kept(folder)
    places: dict[str, list[Result]] = {}
    for r in results:
        places.setdefault(r.env, []).append(r)
    if "" in told and len(places) > 1:
        do = f"say whose: --expert-return {min(places)}={told['']:g}"
        raise ConfigError("one expert's return for several environments", do=do)
    for env in told:
        if env and env not in places:
            known = ", ".join(sorted(places)) or "no run"
            raise ConfigError(f"--expert-return {env}: there is no run of it", do=f"known: {known}")
    found = {}
    for env, runs in places.items():
        card, horizon = shipped(env), _horizon(runs[0])
        random, source = (card[0], "the shipped expert's card") if card else (None, "")
        measured = kept.get(env)
        if random is None and measured and measured["horizon"] == horizon:
            random, source = measured["return"], f"measured, {measured['episodes']} episodes"
        expert, whose = (card[1], "the shipped expert's card") if card else (None, "")
        if expert is None and measured and "expert" in measured:
            expert, whose = measured["expert"], "the scripted expert, measured"
        held = _held(runs)
        if held is not None and card is None:
            expert, whose = held, "the demonstrations' provenance"
        if (said := told.get(env, told.get(""))) is not None:
            expert, whose = said, "--expert-return"
        found[env] = Reference(random, source, expert, whose)
    return found


def measure(study: Study, folder: Path, say: Callable[[str], None]) -> bool:
    """Measure a random policy wherever none is known, and keep it; whether anything is new."""
    kept, new = _kept(folder), False
    for env in sorted({r.env for r in study.results}):
        if study.references[env].random is not None:
            continue
        horizon = _horizon(next(r for r in study.results if r.env == env))
        say(f"measuring a random policy on {env}, once: {EPISODES} episodes")
        try:
            evaluator = Evaluator(env, EPISODES, horizon or None)
        except SoarError as error:
            say(f"no random policy on {env}: {error.what}")
            continue
        returns = evaluator.random().returns
        evaluator.close()
        kept[env] = {"return": float(returns.mean()), "return_std": float(returns.std())}
        kept[env] |= {"episodes": EPISODES, "horizon": horizon}
        if scripted.find(env) is not None:
            kept[env]["expert"] = float(of_script(env, EPISODES).returns.mean())
        new = True
    if new:
        files.write_atomically(folder / NAME, (json.dumps(kept, indent=1) + "\n").encode())
    return new


def _horizon(r: Result) -> int:
    return int(r.settings.get("horizon", 0))


def _kept(folder: Path) -> Fields:
    try:
        return files.read_json(folder / NAME)
    except StorageError:
        return {}


def _held(runs: list[Result]) -> float | None:
    """What the demonstrations of these runs say of their expert, where they agree."""
    said = {r.expert_return for r in runs}
    return said.pop() if len(said) == 1 else None
