"""Data as people have it: arrays under the names of D4RL and others, read as what they say."""

import numpy as np
import pytest
from rows import ENDED, SIZES, WHOLE, A, S, flat, same, to_hdf5

from soar_il.demos import Demos, named
from soar_il.errors import DemoError, DemoWarning


@pytest.mark.filterwarnings("ignore::soar_il.errors.DemoWarning")
@pytest.mark.parametrize("ending", ["npz", "hdf5", "h5"])
def test_d4rl_loses_no_transition_and_no_end(tmp_path, ending):
    path = tmp_path / f"hopper.{ending}"
    np.savez(path, **flat()) if ending == "npz" else to_hdf5(path, flat())
    assert same(Demos.load(path))
    assert same(Demos.load(str(path)))
    assert same(Demos.load(flat()))


def test_what_stays_behind_is_said_once(tmp_path):
    with pytest.warns(DemoWarning) as caught:
        Demos.load(to_hdf5(tmp_path / "x.hdf5", flat()))
    assert [str(w.message).split(": ", 1)[1] for w in caught] == [
        "left out rewards: demonstrations carry no rewards",
        "left out infos/qpos: not names that are understood",
    ]


def test_without_next_observations_only_what_is_not_there_is_lost(tmp_path):
    with pytest.warns(DemoWarning) as caught:
        demos = Demos.load(to_hdf5(tmp_path / "x.hdf5", flat(following=False)))
    assert "3 of 3 trajectories lack their final observation" in str(caught[0].message)
    assert demos.lengths.tolist() == [n - 1 for n in SIZES]


def test_ends_that_nobody_marked_show_where_rows_do_not_go_on():
    held = {k: v for k, v in flat(flags=False).items() if "obs" in k or "act" in k}
    with pytest.warns(DemoWarning, match="not the next row's observations at 2 places"):
        demos = Demos.load(held)
    assert demos.hash == Demos.from_arrays(S, A).hash
    assert demos.about["ends"] == "unknown"


def test_transitions_in_any_order_are_each_a_trajectory():
    order = np.random.default_rng(1).permutation(sum(SIZES))
    held = {k: v[order] for k, v in flat(flags=False).items() if "obs" in k or "act" in k}
    with pytest.warns(DemoWarning, match="cut there"):
        demos = Demos.load(held)
    assert demos.transitions == sum(SIZES)
    triples = {(s[t].tobytes(), a[t].tobytes(), s[t + 1].tobytes())
               for s, a in zip(S, A, strict=True) for t in range(len(a))}  # fmt: skip
    for s, a in zip(demos.observations, demos.actions, strict=True):
        assert all((s[t].tobytes(), a[t].tobytes(), s[t + 1].tobytes()) in triples
                   for t in range(len(a)))  # fmt: skip


def test_next_observations_of_states_alone():
    held = {k: v for k, v in flat().items() if k not in ("actions", "rewards", "infos/qpos")}
    demos = Demos.load(held)
    assert demos.hash == WHOLE.without_actions().hash


def test_next_observations_of_padded_arrays():
    width = max(SIZES)
    pad = lambda rows: np.pad(rows, ((0, width - len(rows)), (0, 0)), constant_values=9)  # noqa: E731
    demos = Demos.load({
        "obs": np.stack([pad(s[:-1]) for s in S]),
        "next_obs": np.stack([pad(s[1:]) for s in S]),
        "acts": np.stack([pad(a) for a in A]),
        "lengths": np.array(SIZES),
        "terminated": ENDED,
    })  # fmt: skip
    assert same(demos)


ROWS = np.cumsum(SIZES)


@pytest.mark.parametrize(
    "ends",
    [ROWS, ROWS - 1, ROWS.astype("u4"), np.isin(np.arange(sum(SIZES)), ROWS - 1)],
    ids=["the rows after", "the last rows", "unsigned", "flags"],
)
def test_keys_say_what_arrays_are_called(tmp_path, ends):
    held = {"state": flat()["observations"], "u": flat()["actions"], "episode_ends": ends}
    held |= {"then": flat()["next_observations"], "died": ENDED}
    keys = "observations=state, actions=u,ends=episode_ends,next_observations=then,terminated=died"
    mapping = named.parse_keys(keys)
    assert same(Demos.load(held, keys=mapping))
    np.savez(tmp_path / "x.npz", **held)
    assert same(Demos.load(tmp_path / "x.npz", keys=mapping))
    assert same(Demos.load(to_hdf5(tmp_path / "x.hdf5", held), keys=mapping))


def test_starts_and_ends_cut_alike():
    held = {k: flat()[k] for k in ("observations", "actions", "next_observations")}
    starts = np.concatenate([[0], ROWS[:-1]])
    for given in (starts, np.isin(np.arange(sum(SIZES)), starts)):
        demos = Demos.load(held | {"episode_starts": given})
        assert demos.lengths.tolist() == list(SIZES)


def test_two_arrays_side_by_side():
    held = {"position": flat()["observations"][:, :1], "rest": flat()["observations"][:, 1:]}
    held |= {"actions": flat()["actions"], "dones": flat()["terminals"] | flat()["timeouts"]}
    with pytest.warns(DemoWarning, match="lack their final"):
        demos = Demos.load(held, keys={"observations": "position+rest"})
    np.testing.assert_array_equal(demos.observations[1], S[1][:-1])


WRONG_KEYS = {
    "a field that there is not": ({"state": "x"}, "'state' is not a field\n.*observations"),
    "a name that there is not": ({"actions": "acton"}, "called 'acton'\n.*did you mean 'actions'"),
    "rewards": ({"actions": "rewards"}, "'rewards' are rewards"),
    "arrays that do not join": (
        {"observations": "observations+terminals"},
        r"observations: cannot be joined of shapes \(16, 3\), \(16,\)",
    ),
}


@pytest.mark.filterwarnings("ignore::soar_il.errors.DemoWarning")
@pytest.mark.parametrize("name", WRONG_KEYS)
def test_wrong_keys_are_named(name):
    keys, message = WRONG_KEYS[name]
    with pytest.raises(DemoError, match=message):
        Demos.load({k: v for k, v in flat().items() if k != "infos/qpos"}, keys=keys)


@pytest.mark.parametrize("text", ["observations", "=x", "observations=", "actions=a,actions=b"])
def test_keys_on_the_command_line_are_pairs(text):
    with pytest.raises(DemoError, match=r"^keys: "):
        named.parse_keys(text)


WRONG_ROWS = {
    "ends beyond the rows": ({"ends": ROWS + 3}, "ends: goes to 19, the arrays have 16 rows"),
    "ends that stop early": ({"ends": ROWS[:2]}, "ends: goes to 12, the arrays have 16 rows"),
    "ends that fall": ({"ends": ROWS[::-1]}, "ends: .*\n.*that grow"),
    "lengths against ends": (
        {"ends": ROWS, "lengths": np.array([8, 4, 4])},
        "lengths: disagrees with ends",
    ),
    "ends of padded arrays": ({"ends": ROWS, "observations": np.zeros((3, 5, 3)), 
        "actions": np.zeros((3, 5, 2))}, "ends: is for flat arrays\n.*give lengths"),
    "next observations of another shape": (
        {"next_observations": np.zeros((16, 4))},
        r"next_observations: have shape \(16, 4\), observations \(16, 3\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_ROWS)
def test_cuts_that_cannot_be_are_refused(name):
    change, message = WRONG_ROWS[name]
    held = {k: flat()[k] for k in ("observations", "actions")} | change
    with pytest.raises(DemoError, match=f"(?s){message}"):
        Demos.load(held)
