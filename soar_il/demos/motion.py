"""Whether demonstrations move as their environment does.

Random steps of the environment show rules such as "a position moves by its velocity" or "a velocity
by the action": one coordinate's change as a sum of at most three terms. Such short rules hold in
states that random steps never see. Under a wrong reading of the demonstrations they fail, and under
the right one they hold; so each check compares the demonstrations as given with another reading,
and speaks only where the other one is clearly better and good.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from soar_il.demos.align import predict, ridge
from soar_il.demos.format import Demos
from soar_il.demos.probe import Probe

Array = npt.NDArray[np.float64]

MOST_TERMS = 3
TERM = 0.25  # of what is left unexplained, that a further term must explain
KNOWN = 0.8  # of a change's variance, on steps that the rule was not fitted to
CLEAR = 4.0  # times the squared error of the better reading
GOOD = 0.5  # of the squared change, the most that a reading may leave unexplained
WORST = 4.0  # what time reversed gives; more would let one bad rule speak for all
FLOOR = 1e-6  # float32
FEWEST = 20  # transitions
MOST_ROWS = 4000
EXACT = 0.01  # what a rule that is trusted wherever it goes leaves unexplained
UNITS = 10.0  # a factor that units differ by; a policy linear in the state can feign a smaller one
MOST_SWAPS = 10_000  # times rules, on all rows; with more, fewer rows are looked at
ROWS_PER_FEATURE = 4


class Rule(NamedTuple):
    """Coordinate ``of`` changes by ``weights`` times some columns and a constant.

    The columns are s + s' where ``between``, so that no action is needed, and s beside a else.
    ``error`` is the share of the variance that it does not explain on the environment's own steps.
    """

    of: int
    between: bool
    columns: tuple[int, ...]
    weights: Array
    constant: float
    error: float


class Rows(NamedTuple):
    """Transitions of demonstrations; ``actions`` is None where only states were seen."""

    now: Array
    then: Array
    actions: Array | None


def rules(seen: Probe) -> list[Rule]:
    """What the environment's own steps obey, found on one half of them and kept if it holds on the
    other."""
    changes, half = seen.after - seen.states, len(seen.states) // 2
    found: list[Rule] = []
    for between, x in (
        (True, seen.states + seen.after),
        (False, np.hstack([seen.states, seen.actions])),
    ):
        mean, spread = x[:half].mean(axis=0), x[:half].std(axis=0)
        standard = (x - mean) / np.where(spread > 1e-8, spread, np.inf)
        for of in np.flatnonzero(changes[:half].var(axis=0) > 1e-10):
            columns, weights, middle, error = _terms_of(standard, changes[:, of], half)
            if columns and error < 1 - KNOWN:
                slopes = weights / spread[columns]
                constant = float(middle - mean[columns] @ slopes)
                found.append(Rule(int(of), between, tuple(columns), slopes, constant, error))
    return found


def _terms_of(standard: Array, y: Array, half: int) -> tuple[list[int], Array, float, float]:
    """Columns that explain y in the first half, one by one, and the error in the second."""
    middle = float(y[:half].mean())
    wanted: np.ndarray = y[:half] - middle
    left = wanted
    columns: list[int] = []
    weights: np.ndarray = np.zeros(0)
    for _ in range(MOST_TERMS):
        best = int(np.abs(left @ standard[:half]).argmax())
        trial = [*columns, best]
        tried = np.linalg.lstsq(standard[:half, trial], wanted, rcond=None)[0]
        after = wanted - standard[:half, trial] @ tried
        if best in columns or after.var() > (1 - TERM) * left.var():
            break
        columns, weights, left = trial, tried, after
    missed = y[half:] - middle - standard[half:, columns] @ weights
    return columns, weights, middle, float((missed**2).mean() / max(y[half:].var(), 1e-20))


def rows(demos: Demos) -> Rows:
    """At most MOST_ROWS transitions, evenly from all."""
    every = -(-demos.transitions // MOST_ROWS)
    now, then = (
        np.concatenate([s[part] for s in demos.observations])[::every].astype(np.float64)
        for part in (slice(None, -1), slice(1, None))
    )
    if demos.actions is None:
        return Rows(now, then, None)
    return Rows(now, then, np.concatenate(demos.actions)[::every].astype(np.float64))


def usable(known: Iterable[Rule], given: Rows) -> list[Rule]:
    """Without actions only the rules between states."""
    return [rule for rule in known if rule.between or given.actions is not None]


def errors(known: Sequence[Rule], given: Rows, order: Sequence[int] | None = None) -> Array:
    """Of each rule: the share of the squared change that it does not explain.

    ``order``: which column of the demonstrations is read as each of the environment's.
    """
    order = order if order is not None else range(given.now.shape[1])
    found = []
    for rule in known:
        moved = given.then[:, order[rule.of]] - given.now[:, order[rule.of]]
        found.append(((_said(rule, given, order) - moved) ** 2).mean() / max(_square(moved), 1e-20))
    return np.array(found)


def _said(rule: Rule, given: Rows, order: Sequence[int]) -> Array:
    """The change that a rule expects in each row."""
    said: Array = np.full(len(given.now), rule.constant)
    for column, weight in zip(rule.columns, rule.weights, strict=True):
        if column < len(order):
            value = given.now[:, order[column]]
            said += weight * (value + given.then[:, order[column]] if rule.between else value)
        elif given.actions is not None:
            said += weight * given.actions[:, column - len(order)]
    return said


def _square(x: Array) -> float:
    return float((x**2).mean())


def better(as_given: Array, otherwise: Array, good: float = GOOD) -> bool:
    """Whether another reading is clearly better, and good."""
    if not len(as_given):
        return False
    before, after = (np.minimum(e, WORST).mean() + FLOOR for e in (as_given, otherwise))
    return bool(after < good and after * CLEAR < before)


def time_reversed(known: Sequence[Rule], given: Rows) -> bool:
    """Whether each transition reads better from its end to its start."""
    backward = Rows(given.then, given.now, given.actions)
    kinds = ([rule for rule in known if rule.between], known)
    return any(better(errors(some, given), errors(some, backward)) for some in kinds)


def unlawful(known: Sequence[Rule], given: Rows) -> bool:
    """Whether rules explain less than that nothing moves: those between states, and exact ones."""
    trusted = [rule for rule in known if rule.between or rule.error < EXACT]
    if not trusted:
        return False
    still = []
    for rule in trusted:
        moved = given.then[:, rule.of] - given.now[:, rule.of]
        said = _said(rule, given, range(given.now.shape[1]))
        still.append(_square(said) / max(_square(moved), 1e-20))
    as_given, at_rest = (np.minimum(e, WORST).mean() for e in (errors(trusted, given), still))
    return bool(as_given > max(at_rest, GOOD))


def order(known: Sequence[Rule], given: Rows) -> list[int] | None:
    """The columns of the demonstrations in the environment's order, where they are in another."""
    size = given.now.shape[1]
    held = [{c for c in (rule.of, *rule.columns) if c < size} for rule in known]
    pairs = list(combinations(sorted(set().union(*held)), 2))
    if len(pairs) * len(known) > MOST_SWAPS:
        thin = -(-len(pairs) * len(known) // MOST_SWAPS)
        taken = None if given.actions is None else given.actions[::thin]
        given = Rows(given.now[::thin], given.then[::thin], taken)
    chosen, current = list(range(size)), errors(known, given)
    first = current
    while True:
        best: tuple[float, list[int], Array] | None = None
        for j, k in pairs:
            tried = chosen.copy()
            tried[j], tried[k] = tried[k], tried[j]
            touched = [n for n, columns in enumerate(held) if columns & {j, k}]
            errs = current.copy()
            errs[touched] = errors([known[n] for n in touched], given, tried)
            gain = float((np.minimum(current, WORST) - np.minimum(errs, WORST)).sum())
            if (best is None or gain > best[0]) and better(current[touched], errs[touched]):
                best = gain, tried, errs
        if best is None or best[0] <= 0:
            break
        _, chosen, current = best
    changed = first != current
    return chosen if better(first[changed], current[changed]) else None


def acting(known: Iterable[Rule], demos: Demos) -> list[Rule]:
    """The rules by which actions move something."""
    size = demos.observation_size
    return [rule for rule in known if not rule.between and max(rule.columns) >= size]


def factor(known: Iterable[Rule], demos: Demos) -> float | None:
    """By how much the states are too large for what their actions do; 1.0 where they are not.

    None where no exact rule or too few rows can tell: with others, "actions do nothing" would pass
    for small numbers.
    """
    given, told = rows(demos), [rule for rule in acting(known, demos) if rule.error < EXACT]
    size, up, down = demos.observation_size, 0.0, 0.0
    if not told or demos.transitions < FEWEST:
        return None
    for rule in told:
        states = [(c, w) for c, w in zip(rule.columns, rule.weights, strict=True) if c < size]
        moved = given.then[:, rule.of] - given.now[:, rule.of]
        drift = sum((w * given.now[:, c] for c, w in states), np.zeros(len(moved)))
        by_action = _said(rule, given, range(size)) - drift
        up += float((moved - drift) @ by_action) / max(_square(moved), 1e-20)
        down += float(by_action @ by_action) / max(_square(moved), 1e-20)
    times = up / down if down > 0 else 1.0
    if not (times >= UNITS or 0 < times <= 1 / UNITS):
        return 1.0
    scaled = given._replace(now=given.now / times, then=given.then / times)
    return times if better(errors(told, given), errors(told, scaled), 5 * EXACT) else 1.0


def late_actions(known: Iterable[Rule], demos: Demos) -> int | None:
    """1 where the action in the next row fits better, -1 where the one before does, 0 where the one
    beside does; None where no rule or too few rows can tell."""
    told = acting(known, demos)
    pairs = zip(demos.observations, demos.actions or (), strict=bool(demos.actions))
    long = [(s, a) for s, a in pairs if len(a) > 2]
    if not told or sum(len(a) - 2 for _, a in long) < FEWEST:
        return None
    now, then = (
        np.concatenate([s[part] for s, _ in long]).astype(np.float64)
        for part in (slice(1, -2), slice(2, -1))
    )
    before, here, after = (
        errors(told, Rows(now, then, np.concatenate([a[part] for _, a in long]).astype(np.float64)))
        for part in (slice(None, -2), slice(1, -1), slice(2, None))
    )
    if better(here, after):
        return 1
    return -1 if better(here, before) else 0


def recorded_late(seen: Probe, demos: Demos) -> bool | None:
    """Where an observation tells the action that led to it: whether it tells the one beside it.

    None where observations do not tell all of the action.
    """
    half = len(seen.after) // 2
    if demos.actions is None or half < ROWS_PER_FEATURE * seen.after.shape[1]:
        return None
    weights = ridge(seen.after[:half], seen.actions[:half])
    missed = ((seen.actions[half:] - predict(weights, seen.after[half:])) ** 2).mean(axis=0)
    if (missed > EXACT * seen.actions[half:].var(axis=0)).any():
        return None
    taken = np.concatenate(demos.actions)
    now, then = (
        np.concatenate([s[part] for s in demos.observations]).astype(np.float64)
        for part in (slice(None, -1), slice(1, None))
    )
    right, late = (_square(predict(weights, x) - taken) for x in (then, now))
    return late * CLEAR < right
