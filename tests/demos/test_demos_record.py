"""Recording: from any policy, from a run, and of a shipped expert at first use."""

import numpy as np
import pytest
import tiny
import toys

import soar_il
from soar_il.demos import Demos, places
from soar_il.demos.check import check
from soar_il.errors import DemoError, DemoWarning, SoarError
from soar_il.experts import record as recorder


def push(observation):
    """Towards the origin, within the bounds."""
    return np.clip(-5 * observation, [-1, -2], [1, 3]).astype(np.float32)


def record_two(env=toys.PointMass, **more):
    return soar_il.record(env, push, 2, horizon=toys.HORIZON, **more)


class Predicts:
    """What Stable-Baselines3 calls a policy; this one remembers how often it was asked."""

    def __init__(self):
        self.starts, self.modes = [], []

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        self.starts.append(state is None)
        self.modes.append(deterministic)
        return push(observation), (state or 0) + 1


def test_an_object_that_predicts_and_a_function_are_recorded_alike():
    by_function = soar_il.record(toys.PointMass, push, 3, horizon=toys.HORIZON)
    policy = Predicts()
    by_object = soar_il.record(toys.PointMass, policy, 3, horizon=toys.HORIZON)
    assert by_function.hash == by_object.hash
    assert len(by_object) == 3
    assert set(policy.modes) == {True}
    first = np.concatenate([[0], np.cumsum(by_object.lengths)[:-1]])
    assert np.flatnonzero(policy.starts).tolist() == first.tolist()  # its memory begins anew
    assert by_object.about["who"] == "Predicts"
    assert check(by_object, toys.PointMass) == []


def test_a_recording_is_what_the_environment_received_and_gave():
    demos = soar_il.record(toys.PointMass, push, 2, horizon=toys.HORIZON, seed=3)
    for n, seed in enumerate(demos.about["reset_seeds"]):
        env = toys.PointMass()
        states = [env.reset(seed=seed)[0]]
        for action in demos.actions[n]:
            state, _, terminated, *_ = env.step(action)
            states.append(state)
        np.testing.assert_array_equal(np.stack(states), demos.observations[n])
        assert demos.terminated[n] == terminated


def test_an_episode_that_is_lost_is_recorded_as_terminated():
    demos = soar_il.record(toys.PointMass, lambda o: np.array([1.0, 3.0]), 2, horizon=toys.HORIZON)
    assert demos.terminated.all()
    assert (demos.lengths < toys.HORIZON).all()


def test_the_seed_decides_the_episodes():
    hashes = [record_two(seed=s).hash for s in (0, 0, 1)]
    assert hashes[0] == hashes[1] != hashes[2]


@pytest.mark.parametrize("kind", toys.REWARDS)
def test_nothing_of_a_reward_is_recorded(kind):
    def other_reward():
        return toys.OtherReward(toys.PointMass(), kind)

    plain, other = record_two(), record_two(other_reward)
    assert plain.hash == other.hash
    assert {**plain.about, "env": ""} == {**other.about, "env": ""}


def test_actions_outside_of_the_bounds_are_clipped_and_counted():
    with pytest.warns(DemoWarning, match="80 actions were outside of the bounds"):
        demos = soar_il.record(toys.PointMass, lambda o: -np.sign(o) * 9, 2, horizon=toys.HORIZON)
    taken = np.concatenate(demos.actions)
    assert taken.min(axis=0).tolist() == [-1, -2]
    assert taken.max(axis=0).tolist() == [1, 3]


def test_an_environment_of_one_s_own_stays_open():
    class Watched(toys.PointMass):
        closed = False

        def close(self):
            self.closed = True

    env = Watched()
    soar_il.record(env, push, 1, horizon=toys.HORIZON)
    assert not env.closed


WRONG = {
    "no policy": ({"policy": 5}, "policy: is int, which cannot act\n.*predict"),
    "too many numbers": ({"policy": lambda o: np.zeros(3)}, "gave 3 numbers\n.*2 finite"),
    "no number": ({"policy": lambda o: np.full(2, np.nan)}, "gave .*nan.*\n.*2 finite"),
    "no episode": ({"n": 0}, "0 episodes asked for\n.*1 to"),
    "a seed below 0": ({"seed": -1}, "seed is -1"),
    "a reward in the provenance": ({"about": {"reward": 1}}, "has the key 'reward'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_recorded_is_said(name):
    change, message = WRONG[name]
    given = {"env": toys.PointMass, "policy": push, "n": 1, "horizon": toys.HORIZON} | change
    with pytest.raises(DemoError, match=f"(?s){message}"):
        soar_il.record(**given)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    tiny.register()
    folder = tmp_path_factory.mktemp("record") / "run"
    with pytest.MonkeyPatch.context() as patch:
        where = tmp_path_factory.mktemp("demos")
        tiny.demos().save(where / "points.demos")
        common = ["--steps", "240", "--evaluate-every", "120", "--episodes", "2", "--out", folder]
        given = ["train", "--demos", where / "points.demos", "--env", "Point-v0", *common]
        patch.setattr("sys.argv", ["soar", *map(str, given), "--set", *tiny.SETTINGS])
        tiny.main()
    return folder


def test_an_imitator_is_recorded_as_it_predicts():
    with tiny.imitator() as imitator:
        demos = soar_il.record(toys.PointMass, imitator, 2, horizon=toys.HORIZON)
        taken = imitator.predict(demos.observations[1][:-1])[0]
    np.testing.assert_allclose(taken, demos.actions[1], atol=1e-5)


def test_the_command_records_a_run(run, tmp_path, monkeypatch, capsys):
    tiny.register()
    monkeypatch.chdir(tmp_path)

    def soar(*words):
        monkeypatch.setattr("sys.argv", ["soar", "demos", "record", *map(str, words)])
        tiny.main()

    soar("--run", run, "--trajectories", 2)
    assert "(not stored)" in capsys.readouterr().out
    demos = Demos.load(places.find("Point-v0"))
    assert (len(demos), demos.about["env"], demos.about["who"]) == (2, "Point-v0", "run run")
    soar("--run", run, "--trajectories", 2, "--at", 0, "--out", "first.demos")
    assert Demos.load("first.demos").hash != demos.hash
    assert Demos.load("first.demos").about["steps_trained"] == 0
    for words in ([], ["Hopper-v5", "--run", run], ["--run", run], ["--run", run, "--at", 7]):
        with pytest.raises(SystemExit):
            soar(*words)
    out = capsys.readouterr().err
    for said in ("needs an environment or a run", "--overwrite", "no policy was kept at 7 steps"):
        assert said in out


def test_a_run_that_is_none_is_named(tmp_path):
    with pytest.raises(SoarError, match="is not a run directory"):
        recorder.policy_of(tmp_path / "nothing")
    with pytest.raises(SoarError, match="no policy has been kept yet"):
        recorder.policy_of(tmp_path)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(recorder, "FIRST_USE", 2)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def test_a_shipped_expert_is_recorded_at_first_use_and_kept(home):
    said = []
    path = recorder.find_or_record("HalfCheetah-v5", said.append)
    assert path.parent == home / "cache" / "soar-il" / "demos"
    (line,) = said
    assert "\n" not in line
    assert "recording 2 of the shipped expert" in line
    demos = Demos.load(path)
    assert (len(demos), demos.about["env"]) == (2, "HalfCheetah-v5")
    assert recorder.find_or_record("HalfCheetah-v5", said.append) == path
    assert len(said) == 1
    own = demos.select(1).save("HalfCheetah-v5.demos")
    assert recorder.find_or_record("HalfCheetah-v5", said.append) == own


def test_what_is_there_is_not_recorded(home):
    def say(text):
        raise AssertionError(text)

    assert recorder.find_or_record("Hopper-v5", say) == places.known("Hopper-v5")
    with pytest.raises(DemoError, match=r"no demonstrations of Pusher-v5.*\n.*soar_il\.record"):
        recorder.find_or_record("Pusher-v5", say)
    assert not (home / "cache").exists()


def test_two_processes_that_record_at_once_share_one_recording(home, monkeypatch):
    plain = recorder.record

    def meanwhile(snapshot, *args, **more):
        made = plain(snapshot, *args, **more)
        (path,) = [home / "cache" / "soar-il" / "demos" / said[0].rsplit("/", 1)[1]]
        made.demos.save(path)
        return made

    said = []
    monkeypatch.setattr(recorder, "record", meanwhile)
    path = recorder.find_or_record("HalfCheetah-v5", said.append)
    assert len(Demos.load(path)) == 2


def test_a_cache_that_cannot_be_written_says_what_to_do(home, monkeypatch):
    (home / "cache").write_text("a file")
    with pytest.raises(DemoError, match="XDG_CACHE_HOME"):
        recorder.find_or_record("HalfCheetah-v5", lambda text: None)
