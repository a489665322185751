"""Optimism, an ensemble, or more updates? Steps and seconds to the goal over those of the base."""

from collections.abc import Sequence

from soar_il.report import arms
from soar_il.report.arm_tables import SQUARE, never, ratio
from soar_il.report.compare import THRESHOLD, Comparison, by_env, compare
from soar_il.report.results import Result, Study, is_normal, pair, with_base
from soar_il.report.table import Table

# In these a method with SOAR, without its bonus or with more updates may differ from its base.
VARIED = ("learner.critics", "learner.sigma", "learner.updates_per_step")
HEAD = ("method", "over", "steps", "seconds", "environment", "seeds", "never there")


def table(study: Study) -> Table | None:
    """A row for each arm beside its base method with one critic, all environments first."""
    reported = [r for r in study.results if r.purpose == "report" and not r.stepless]
    places, same = by_env(reported), arms.alike(reported, besides=VARIED)
    bases = dict.fromkeys(p.theirs[0].label for p in with_base(reported))
    rows = []
    for base in bases:
        beside: dict[str, list[Comparison]] = {}
        for known in places.values():
            for label, runs in known.items():
                if label not in bases and base in known and same(runs[0], known[base][0]):
                    p = pair(runs, known[base])
                    if p.ours and is_normal([*p.ours, *p.theirs]):
                        beside.setdefault(label, []).append(compare([p]))
        for label in beside if len(places) > 1 else ():
            rows += _over_all(label, base, places)
        rows += [_row(c) for found in _by_env(beside, list(places)) for c in found]
    if not rows:
        return None
    note = (
        f"Steps and seconds to {THRESHOLD:g} of the way from random play to the expert, the "
        "first arm's over its base's, on the same seeds: below 1 it is faster. SOAR beside sigma = "
        "0 tells the bonus from the critics, beside more updates both from mere compute. "
        f"A run that never gets there counts with all that it was given. {SQUARE}"
    )
    title = f"How much sooner than the base: steps and seconds to {THRESHOLD:g}"
    return Table("speed", title, HEAD, tuple(rows), note)


def _over_all(
    label: str, base: str, places: dict[str, dict[str, list[Result]]]
) -> list[tuple[str, ...]]:
    """The geometric mean over environments, where both arms are on all of them."""
    if not all(label in known and base in known for known in places.values()):
        return []
    pairs = [pair(known[label], known[base]) for known in places.values()]
    if not all(p.ours and is_normal([*p.ours, *p.theirs]) for p in pairs):
        return []
    return [_row(compare(pairs))]


def _by_env(beside: dict[str, list[Comparison]], envs: Sequence[str]) -> list[list[Comparison]]:
    """Environment by environment, all arms."""
    return [[c for found in beside.values() for c in found if c.envs == (env,)] for env in envs]


def _row(c: Comparison) -> tuple[str, ...]:
    where = c.envs[0] if len(c.envs) == 1 else f"all {len(c.envs)}"
    times = ratio(c.to_goal), ratio(c.seconds)
    return (c.ours, c.theirs, *times, where, str(c.seeds), never(c.to_goal))
