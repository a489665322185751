"""Arrays that are no demonstrations, and what each is answered."""

import json

import numpy as np

from soar_il.demos import Demos
from soar_il.demos.fit import require_fit
from soar_il.envs.blind import BlindEnv

N, T, S, A = 3, 6, 4, 2


def good(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N, T + 1, S)), rng.uniform(-1, 1, size=(N, T, A))


def with_value(field, trajectory, step, value):
    def make(tmp):
        s, a = good()
        (s if field == "observations" else a)[trajectory, step, 1] = value
        Demos.from_arrays(s, a)

    return make


def arrays(change):
    """A case that gives ``change(s, a)`` to from_arrays."""

    def make(tmp):
        result = change(*good())
        Demos.from_arrays(**result) if isinstance(result, dict) else Demos.from_arrays(*result)

    return make


def flat(s, a, lengths, **more):
    return {
        "observations": s.reshape(-1, S),
        "actions": a if a is None else a.reshape(-1, A),
        "lengths": lengths,
    } | more


MEND = "leave the trajectory out or mend it"
LIST = "a list with one 2-D array for each trajectory"
HALF = [np.zeros((2, 2)), np.zeros((3, 2))]

CASES = {
    # values
    **{
        f"{value} in {field} at the {name} step": (
            with_value(field, trajectory, step, value),
            rf"^trajectory {trajectory}, step {at}, {field}\[1\]: is {shown}\n.*{MEND}",
        )
        for value, shown in (
            (np.nan, "nan"),
            (np.inf, "inf"),
            (-np.inf, "-inf"),
            (1e38, r"1e\+38"),
            (1e300, "inf"),
        )
        for field, rows in (("observations", T + 1), ("actions", T))
        for name, trajectory, step, at in (
            ("first", 0, 0, 0),
            ("middle", 1, 3, 3),
            ("last", N - 1, -1, rows - 1),
        )
    },
    # types
    "objects": (
        arrays(lambda s, a: (s.astype(object), a)),
        rf"^observations: is of type object.*\n.*{LIST}",
    ),
    "an array of arrays": (
        arrays(lambda s, a: (np.array([s[0], s[1][:3]], dtype=object),)),
        rf"^observations: is of type object.*\n.*{LIST}",
    ),
    "complex": (arrays(lambda s, a: (s + 1j, a)), "^observations: .*complex128.*\n.*float32"),
    "text": (arrays(lambda s, a: (s.astype(str), a)), "^observations: .*<U.*\n.*float32"),
    "bytes": (arrays(lambda s, a: (s, a.astype("S4"))), r"^actions: .*S4.*\n.*float32"),
    "dates": (arrays(lambda s, a: (s.astype("M8[s]"), a)), "^observations: .*datetime.*\n.*float"),
    "booleans": (arrays(lambda s, a: (s > 0, a)), "^observations: .*bool.*\n.*float32"),
    "records": (
        arrays(lambda s, a: (np.zeros((N, T + 1), dtype=[("x", "f4")]),)),
        "^observations: .*'x'.*\n.*float32",
    ),
    "whole numbers that float32 rounds": (
        arrays(lambda s, a: (np.full((N, T + 1, S), 2**24 + 1), a)),
        "^observations: .*16777216.*\n.*scale it",
    ),
    "a masked array": (
        arrays(lambda s, a: (np.ma.masked_greater(s, 1), a)),
        "^observations: is a masked array\n.*give lengths",
    ),
    "nothing": (arrays(lambda s, a: (None,)), "^observations: .*object"),
    # shapes
    "no trajectory in a list": (arrays(lambda s, a: ([], [])), "^no trajectory\n.*at least one"),
    "no trajectory in an array": (arrays(lambda s, a: (s[:0], a[:0])), "^no trajectory\n"),
    "an empty array": (arrays(lambda s, a: (np.zeros(0),)), "^observations: has 1 axes\n.*2-D"),
    "a number": (arrays(lambda s, a: (3.0,)), "^observations: has 0 axes\n.*2-D"),
    "four axes": (arrays(lambda s, a: (s[None], a[None])), "^observations: has 4 axes\n.*2-D"),
    "one-dimensional observations": (
        arrays(lambda s, a: ([s[0, :, 0]],)),
        r"^trajectory 0, observations: has 1 axes\n.*a\[:, None\]",
    ),
    "one-dimensional actions": (
        arrays(lambda s, a: (list(s), [x[:, 0] for x in a])),
        r"^trajectory 0, actions: has 1 axes\n.*a\[:, None\]",
    ),
    "no features": (
        arrays(lambda s, a: (s[..., :0],)),
        "^trajectory 0, observations: has no features\n.*size >= 1",
    ),
    "a trajectory of one observation": (
        arrays(lambda s, a: ([s[0], s[1][:1]],)),
        "^trajectory 1, observations: has 1 observation: no transition\n.*leave this one out",
    ),
    "a trajectory of none": (
        arrays(lambda s, a: ([s[0], s[1][:0]],)),
        "^trajectory 1, observations: has 0 observations: no transition\n.*leave this one out",
    ),
    "one step without its end": (
        arrays(lambda s, a: ([s[0], s[1][:1]], [a[0], a[1][:1]])),
        "^trajectory 1: has one observation and one action.*\n.*add the final observation",
    ),
    "too few observations": (
        arrays(lambda s, a: ([s[0], s[1][:-2]], [a[0], a[1]])),
        "^trajectory 1: has 5 observations and 6 actions\n.*T [+] 1 observations",
    ),
    "too many observations": (
        arrays(lambda s, a: (list(s), [x[:-1] for x in a])),
        "^trajectory 0: has 7 observations and 5 actions\n.*T [+] 1 observations",
    ),
    "more observations than actions arrays": (
        arrays(lambda s, a: (list(s), list(a)[:2])),
        "^3 trajectories of observations, 2 of actions\n.*one array of actions for each",
    ),
    "ragged rows": (
        arrays(lambda s, a: ([[[1.0, 2.0], [1.0]]],)),
        rf"^trajectory 0, observations: rows of different sizes\n.*{LIST}",
    ),
    "observation sizes differ": (
        arrays(lambda s, a: ([s[0], s[1][:, :3]],)),
        "^trajectory 1, observations: has 3 features, trajectory 0 has 4\n.*one environment",
    ),
    "action sizes differ": (
        arrays(lambda s, a: (list(s), [a[0], a[1], a[2][:, :1]])),
        "^trajectory 2, actions: has 1 features, trajectory 0 has 2\n.*one environment",
    ),
    "two layouts": (
        arrays(lambda s, a: (list(s), a.reshape(-1, A))),
        "^observations and actions have different layouts\n.*the same one",
    ),
    # lengths
    "flat without lengths": (
        arrays(lambda s, a: flat(s, a, None)),
        r"^observations: are one 2-D array \(21, 4\)\n.*give lengths.*transitions",
    ),
    "lengths of observations": (
        arrays(lambda s, a: flat(s, None, [T + 1] * N)),
        "^observations: has 21 rows, 3 trajectories of 21 transitions have 24\n.*one fewer",
    ),
    "lengths that miss actions": (
        arrays(lambda s, a: flat(s, a, [T, T])),
        "^actions: has 18 rows, the lengths add up to 12\n.*counts the actions",
    ),
    "a length of zero": (
        arrays(lambda s, a: flat(s, a, [T, 0, 2 * T])),
        "^trajectory 1, lengths: is 0\n.*leave this one out",
    ),
    "a negative length": (
        arrays(lambda s, a: flat(s, a, [T, -1, 2 * T])),
        "^trajectory 1, lengths: is -1\n.*leave this one out",
    ),
    "fractional lengths": (
        arrays(lambda s, a: flat(s, a, [6.0, 6.0, 6.0])),
        "^lengths: is float64 of shape .3,.\n.*whole number",
    ),
    "lengths beyond the padding": (
        arrays(lambda s, a: (s, a, [T, T, T + 1])),
        "^trajectory 2, lengths: is 7, the array has room for 6 transitions\n.*one fewer",
    ),
    "too few lengths": (
        arrays(lambda s, a: (s, a, [T, T])),
        "^lengths: has 2 numbers for 3 trajectories\n.*one for each",
    ),
    "lengths with a list": (
        arrays(lambda s, a: (list(s), list(a), [T] * N)),
        "^lengths: given with a list\n.*leave it out",
    ),
    "lengths beyond int64": (
        arrays(lambda s, a: flat(s, a, np.array([2**63, 2**63], dtype=np.uint64))),
        "^actions: has 18 rows, the lengths add up to 18446744073709551616\n",
    ),
    # ends and provenance
    "terminated by the step": (
        arrays(lambda s, a: (s, a, None, np.zeros((N, T), bool))),
        r"^terminated: is bool of shape \(3, 6\)\n.*one bool for each of the 3",
    ),
    "terminated as numbers": (
        arrays(lambda s, a: (s, a, None, [0.0, 1.0, 0.5])),
        "^terminated: is float64 .*\n.*one bool",
    ),
    "terminated in pieces": (
        arrays(lambda s, a: (s, a, None, [[True], [True, False]])),
        "^terminated: rows of different sizes\n",
    ),
    "terminated as numbers, final observations missing": (
        arrays(lambda s, a: (s[:, 1:], a, None, [0.0, 1.0, 1.0])),
        "^terminated: is float64 .*\n.*one bool",
    ),
    "deep provenance": (
        arrays(lambda s, a: (s, a, None, None, json.loads('{"a":' * 500 + "1" + "}" * 500))),
        "^about: is nested deeper than 20\n.*short",
    ),
    "a history that is none": (
        arrays(lambda s, a: (s, a, None, None, {"history": 5})),
        "^about.history: is not a list\n.*leave it out",
    ),
    "lengths in pieces": (
        arrays(lambda s, a: flat(s, a, [[6], [6, 6]])),
        "^lengths: rows of different sizes\n",
    ),
    "provenance that JSON cannot hold": (
        arrays(lambda s, a: (s, a, None, None, {"x": object()})),
        "^about: is not JSON.*\n.*text, numbers, lists",
    ),
    "provenance of nan": (
        arrays(lambda s, a: (s, a, None, None, {"x": float("nan")})),
        "^about: is not JSON.*\n.*text, numbers, lists",
    ),
    "a reward in the provenance": (
        arrays(lambda s, a: (s, a, None, None, {"runs": [{"mean_reward": 3}]})),
        "^about.runs: has the key 'mean_reward'\n.*for evaluation",
    ),
    "provenance that is no dictionary": (
        arrays(lambda s, a: (s, a, None, None, "Hopper")),
        "^about: is str\n.*a dictionary",
    ),
    # alignment
    "a shift of two": (
        arrays(lambda s, a: {"observations": s, "actions": a, "shift": 2}),
        "^shift: is 2\n.*0: row t is s_t and a_t; 1:",
    ),
    "a shift with final observations": (
        arrays(lambda s, a: {"observations": s, "actions": a, "shift": 1}),
        "^trajectory 0: has 7 observations and 6 actions\n.*as many of both",
    ),
    # use
    "more than there are": (
        lambda tmp: Demos.from_arrays(*good()).select(4),
        "^4 trajectories asked for, 3 there\n.*1 to 3",
    ),
    "fewer than one": (
        lambda tmp: Demos.from_arrays(*good()).select(0),
        "^0 trajectories asked for, 3 there\n.*1 to 3",
    ),
    "every zeroth": (
        lambda tmp: Demos.from_arrays(*good()).subsample(0, 0),
        "^every is 0\n.*at least 1",
    ),
    "states only for a method that needs actions": (
        lambda tmp: require_fit(
            Demos.from_arrays(good()[0][..., :3]), BlindEnv("Pendulum-v1"), True
        ),
        "^demonstrations: there are no actions.*needs the expert's\n.*state-only method",
    ),
    "an unknown ending to save under": (
        lambda tmp: Demos.from_arrays(*good()).save(tmp / "x.pkl"),
        r"x.pkl: ends in '.pkl'\n.*\.demos",
    ),
}
