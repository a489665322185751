"""Whether actions belong to the states they stand beside.

Given s_t, the action taken there tells where the next state is, and nothing more about the state
before; the action taken one step earlier does the reverse. So a ridge regression of the action on
s_t gains from s_{t+1} when the pairs are right, and from s_{t-1} when they are a step late. Asking
how well (s_t, a) predicts s_{t+1} would be fooled by a policy: a_{t+1} betrays the state it saw.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from soar_il.demos.format import Demos

Array = npt.NDArray[np.float64]

CLEAR = 0.2  # nats; sines of time, the worst aligned case seen, reach 0.05
PENALTY = 1e-4
FLOOR = 1e-2  # of an action's variance: what a line misses of a nearly linear policy is no evidence
ROWS_PER_FEATURE = 10
MOST_ROWS = 20_000
SAID = {
    1: (
        "actions look shifted by one: states s_1 ... s_T with a_0 ... a_{T-1}?",
        "import with shift=1 if the file is so; look at how it was written",
    ),
    -1: (
        "actions look one step ahead of their states",
        "import with shift=0 if shift=1 was given; look at how it was written",
    ),
}


@dataclass(frozen=True)
class Evidence:
    """Nats of an action's error that the next state explains, and that the one before does.

    Each pair (forward, backward) is for the action in the row before, in the row itself and in the
    row after.
    """

    before: tuple[float, float]
    here: tuple[float, float]
    after: tuple[float, float]

    @property
    def shift(self) -> int:
        """1: row t holds s_t and a_{t-1}. -1: it holds a_{t+1}. 0: aligned, or not to be told."""
        forward, backward = self.here
        if backward > max(CLEAR, forward + CLEAR) and self.after[0] > self.after[1] - CLEAR / 4:
            return 1
        forward, backward = self.before
        return -1 if forward > max(CLEAR, backward + CLEAR) else 0


def shift(demos: Demos) -> int | None:
    """By how many rows the actions are late; None where there are none or too few rows to tell.

    Fitted on one half and tested on the other, then the other way round: both must agree.
    """
    halves = [evidence(demos, half) for half in (0, 1)]
    if halves[0] is None or halves[1] is None:
        return None
    return halves[0].shift if halves[0].shift == halves[1].shift else 0


def suspicion(demos: Demos) -> tuple[str, str] | None:
    """What is wrong with the pairs, if it shows, and the remedy."""
    return SAID.get(shift(demos) or 0)


def needed(demos: Demos) -> int:
    """Transitions, in trajectories like these, from which a shift can be told."""
    length = float(demos.lengths.mean())
    rows = 2 * ROWS_PER_FEATURE * (2 * demos.observation_size + 1)
    return int(np.ceil(rows * length / max(length - 2, 0.5)))


def evidence(demos: Demos, half: int = 0) -> Evidence | None:
    """The evidence when fitted on that half of the data."""
    if demos.actions is None:
        return None
    before, here, after = (_gains(demos, offset, half) for offset in (-1, 0, 1))
    if before is None or here is None or after is None:
        return None
    return Evidence(before, here, after)


def _gains(demos: Demos, offset: int, half: int) -> tuple[float, float] | None:
    """What s_{t+1} and what s_{t-1} add to s_t when the action in row t + offset is predicted."""
    assert demos.actions is not None
    now, step, back, taken, owner = [], [], [], [], []
    for i, (s, a) in enumerate(zip(demos.observations, demos.actions, strict=True)):
        t = np.arange(1, len(s) - 1)
        t = t[t + offset < len(a)][:MOST_ROWS]
        now.append(s[t])
        step.append(s[t + 1] - s[t])
        back.append(s[t] - s[t - 1])
        taken.append(a[t + offset])
        owner.append(np.full(len(t), i))
        if sum(map(len, now)) >= MOST_ROWS:
            break
    which = np.concatenate(owner)
    halves = which % 2 if len(now) > 1 else (np.arange(len(which)) * 2) // max(len(which), 1)
    fit = halves == half
    actions: Array = np.concatenate(taken).astype(np.float64)
    features = 2 * demos.observation_size + 1
    if min(fit.sum(), (~fit).sum()) < ROWS_PER_FEATURE * features:
        return None
    spread = actions[fit].std(axis=0)
    moving = spread > 1e-9
    if not moving.any():
        return None
    actions = (actions[:, moving] - actions[fit][:, moving].mean(axis=0)) / spread[moving]
    state, forward, backward = (np.concatenate(x).astype(np.float64) for x in (now, step, back))
    alone = _log_error(state, actions, fit)
    return (
        alone - _log_error(np.hstack([state, forward]), actions, fit),
        alone - _log_error(np.hstack([state, backward]), actions, fit),
    )


def ridge(x: Array, y: Array) -> Array:
    """Weights of a ridge regression on standardised columns and a constant, for raw columns."""
    mean, spread = x.mean(axis=0), x.std(axis=0)
    spread[spread < 1e-8] = 1.0
    z = np.hstack([(x - mean) / spread, np.ones((len(x), 1))])
    weights = np.linalg.solve(z.T @ z + PENALTY * len(z) * np.eye(z.shape[1]), z.T @ y)
    slopes = weights[:-1] / spread[:, None]
    return np.vstack([slopes, weights[-1:] - mean @ slopes])


def predict(weights: Array, x: Array) -> Array:
    """What the weights of ``ridge`` say."""
    return x @ weights[:-1] + weights[-1]


def _log_error(x: Array, y: Array, fit: npt.NDArray[np.bool_]) -> float:
    error = y[~fit] - predict(ridge(x[fit], y[fit]), x[~fit])
    return float(np.log(np.maximum((error**2).mean(axis=0), FLOOR)).mean())
