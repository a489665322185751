import numpy as np
import pytest

from soar_il.demos import Demos, convert, npz
from soar_il.errors import DemoError, DemoWarning

N, T = 3, 5
RNG = np.random.default_rng(0)
S, A = RNG.normal(size=(N, T + 1, 2)).astype("f4"), RNG.normal(size=(N, T, 1)).astype("f4")
WHOLE = Demos.from_arrays(S, A)


def loaded(tmp_path, **arrays):
    np.savez(tmp_path / "x.npz", **arrays)
    return Demos.load(tmp_path / "x.npz")


@pytest.mark.parametrize("obs", ["observations", "obs", "states"])
@pytest.mark.parametrize("act", ["actions", "acts"])
def test_the_names_of_npz(tmp_path, obs, act):
    assert loaded(tmp_path, **{obs: S, act: A}).hash == WHOLE.hash


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_compressed_fortran_and_big_endian_arrays(tmp_path, save):
    save(tmp_path / "x.npz", obs=np.asfortranarray(S), acts=A.astype(">f8"))
    assert Demos.load(tmp_path / "x.npz").hash == WHOLE.hash


def test_flat_arrays_with_lengths(tmp_path):
    demos = loaded(tmp_path, obs=S.reshape(-1, 2), acts=A.reshape(-1, 1), lengths=np.full(N, T))
    assert demos.hash == WHOLE.hash


def test_numpy_reads_what_we_write(tmp_path):
    WHOLE.save(tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz", allow_pickle=False) as arrays:
        assert np.array_equal(arrays["observations"], S.reshape(-1, 2))
        assert arrays["lengths"].tolist() == [T] * N


@pytest.mark.parametrize("name", ["rewards", "reward", "returns", "rew", "true_reward"])
def test_rewards_stay_outside(tmp_path, name):
    with pytest.warns(DemoWarning, match=f"left out {name}: demonstrations carry no rewards"):
        demos = loaded(tmp_path, obs=S, acts=A, **{name: np.ones((N, T))})
    assert demos.hash == WHOLE.hash
    assert "reward" not in repr(vars(demos))


def test_rewards_are_not_taken_for_something_else(tmp_path):
    np.savez(tmp_path / "x.npz", obs=S, acts=A, rewards=np.ones((N, T, 1)))
    with pytest.raises(DemoError, match="'rewards' are rewards"):
        Demos.load(tmp_path / "x.npz", keys={"actions": "rewards"})


def test_unknown_names_are_named(tmp_path):
    with pytest.warns(DemoWarning, match="left out images: not names"):
        loaded(tmp_path, obs=S, acts=A, images=np.zeros(3))


def test_terminations_by_trajectory_and_by_step(tmp_path):
    ended = np.array([True, False, True])
    by_step = np.zeros((N, T), bool)
    by_step[:, -1] = ended
    for flags in (ended, ended.astype(float), by_step, by_step[..., None]):
        demos = loaded(tmp_path, obs=S, acts=A, terminals=flags)
        assert demos.terminated.tolist() == ended.tolist()
        assert "ends" not in demos.about
    flat = {"obs": S.reshape(-1, 2), "acts": A.reshape(-1, 1), "lengths": np.full(N, T)}
    for flags in (ended, by_step.reshape(-1)):
        assert loaded(tmp_path, **flat, terminated=flags).terminated.tolist() == ended.tolist()


def test_a_termination_cuts_a_padded_trajectory(tmp_path):
    ended = np.zeros((N, T), bool)
    ended[1, 2:] = True
    demos = loaded(tmp_path, obs=S, acts=A, terminals=ended)
    assert demos.lengths.tolist() == [T, 3, T]
    assert demos.terminated.tolist() == [False, True, False]
    assert np.array_equal(demos.observations[1], S[1, :4])


def test_dones_cut_but_do_not_say_who_ended_it(tmp_path):
    dones = np.zeros((N, T), bool)
    dones[0, 1] = True
    demos = loaded(tmp_path, obs=S, acts=A, dones=dones)
    assert demos.lengths.tolist() == [2, T, T]
    assert not demos.terminated.any()
    assert demos.about["ends"] == "unknown"


def test_flat_steps_are_cut_where_they_end(tmp_path):
    """The layout of D4RL: as many observations as actions, ends marked by the step."""
    s, a = RNG.normal(size=(9, 2)).astype("f4"), RNG.normal(size=(9, 1)).astype("f4")
    terminals, timeouts = np.zeros(9, bool), np.zeros(9, bool)
    terminals[3], timeouts[6] = True, True
    with pytest.warns(DemoWarning, match="3 of 3 trajectories lack"):
        demos = loaded(tmp_path, observations=s, actions=a, terminals=terminals, timeouts=timeouts)
    assert demos.lengths.tolist() == [3, 2, 1]
    assert np.array_equal(demos.observations[1], s[4:7])
    assert np.array_equal(demos.actions[1], a[4:6])
    assert not demos.terminated.any()  # the transition into the end is gone


def test_flat_states_are_cut_where_they_end(tmp_path):
    dones = np.zeros(N * (T + 1), bool)
    dones[T :: T + 1] = True
    demos = loaded(tmp_path, states=S.reshape(-1, 2), dones=dones)
    assert demos.hash == WHOLE.without_actions().hash


def test_a_mask_cuts(tmp_path):
    mask = np.ones((N, T))
    mask[2, 3:] = 0
    demos = loaded(tmp_path, obs=S, acts=A, mask=mask)
    assert demos.lengths.tolist() == [T, T, 3]
    mask = np.ones((N, T + 1))
    mask[2, 4:] = 0
    assert loaded(tmp_path, obs=S, mask=mask).hash == demos.without_actions().hash


def test_the_shift_of_tensors_must_be_said():
    with pytest.raises(TypeError, match="shift"):
        convert.from_tensors(S[:, 1:], A)
    demos = convert.from_tensors(S[:, 1:], A, shift=1)
    assert np.array_equal(demos.observations[0], S[0, 1:])
    assert np.array_equal(demos.actions[0], A[0, 1:])


def test_rollouts_of_parallel_environments():
    steps, envs = 7, 2
    s = RNG.normal(size=(steps, envs, 2)).astype("f4")
    a = RNG.normal(size=(steps, envs, 1)).astype("f4")
    dones = np.zeros((steps, envs))
    dones[2, 0] = dones[0, 1] = 1
    with pytest.warns(DemoWarning, match="1 episodes of one step left out"):
        demos = convert.from_rollouts(s, a, dones)
    assert demos.lengths.tolist() == [2, 3, 5]
    assert np.array_equal(demos.observations[1], s[3:, 0])
    assert np.array_equal(demos.actions[1], a[3:6, 0])
    assert not demos.terminated.any()
    with pytest.raises(DemoError, match=r"dones: has shape \(7,\)"):
        convert.from_rollouts(s, a, dones[:, 0])


def test_npy_files(tmp_path):
    np.save(tmp_path / "s.npy", S[:, 1:])
    np.save(tmp_path / "a.npy", A)
    demos = convert.read(tmp_path / "s.npy", shift=1, actions=tmp_path / "a.npy")
    assert np.array_equal(demos.actions[0], A[0, 1:])
    assert convert.read(tmp_path / "s.npy").actions is None


def test_pickles_are_refused_before_they_are_opened():
    with pytest.raises(DemoError, match="is a pickle, which can run code"):
        convert.read("expert.pt")


def test_a_shift_of_what_is_aligned_is_refused(tmp_path):
    with pytest.raises(DemoError, match="aligned by definition"):
        convert.read(WHOLE.save(tmp_path / "x.demos"), shift=1)
    assert npz.read(WHOLE.save(tmp_path / "x.npz")).hash == WHOLE.hash


def test_minari_there_and_back(tmp_path, monkeypatch):
    pytest.importorskip("minari")
    pytest.importorskip("h5py")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    s = RNG.uniform(-1, 1, size=(2, 6, 3)).astype("f4")
    a = RNG.uniform(-1, 1, size=(2, 5, 1)).astype("f4")
    demos = Demos.from_arrays(s, a, terminated=[True, False])
    convert.to_minari(demos, "test/pendulum-v0", "Pendulum-v1")
    for source in ("test/pendulum-v0", tmp_path / "test" / "pendulum-v0"):
        back = convert.from_minari(source)
        assert back.hash == demos.hash
        assert back.about == {"source": "minari test/pendulum-v0", "env": "Pendulum-v1"}
    with pytest.raises(DemoError, match="nothing-v0: is not a local Minari dataset"):
        convert.from_minari("nothing-v0")
    with pytest.raises(DemoError, match="cannot be written"):
        convert.to_minari(demos, "test/pendulum-v0", "Pendulum-v1")
