import json

import numpy as np
import pytest

from soar_il.demos import Demos
from soar_il.errors import DemoError, DemoWarning


def states(length, size=3, seed=0):
    return np.random.default_rng(seed).normal(size=(length + 1, size)).astype(np.float32)


def actions(length, size=2, seed=0):
    return np.random.default_rng(seed + 1000).normal(size=(length, size)).astype(np.float32)


@pytest.fixture
def demos():
    lengths = (5, 1, 8)
    return Demos.from_arrays(
        [states(n, seed=n) for n in lengths],
        [actions(n, seed=n) for n in lengths],
        terminated=[True, False, True],
        about={"env": "Hopper-v5", "who": "a test"},
    )


def test_counts_transitions(demos):
    assert (len(demos), demos.transitions, demos.lengths.tolist()) == (3, 14, [5, 1, 8])
    assert (demos.observation_size, demos.action_size) == (3, 2)


def test_three_layouts_give_the_same_demonstrations():
    s, a = [states(4, seed=i) for i in range(3)], [actions(4, seed=i) for i in range(3)]
    listed = Demos.from_arrays(s, a)
    stacked = Demos.from_arrays(np.stack(s), np.stack(a))
    flat = Demos.from_arrays(np.concatenate(s), np.concatenate(a), lengths=[4, 4, 4])
    assert listed.hash == stacked.hash == flat.hash


def test_padding_is_cut_by_lengths(demos):
    padded_s, padded_a = np.full((3, 10, 3), 7.0), np.full((3, 9, 2), 7.0)
    for i, n in enumerate(demos.lengths):
        padded_s[i, : n + 1], padded_a[i, :n] = demos.observations[i], demos.actions[i]
    cut = Demos.from_arrays(padded_s, padded_a, demos.lengths, demos.terminated)
    assert cut.hash == demos.hash


def test_without_the_final_observation_the_last_action_goes_and_the_end_is_a_cut():
    s, a = states(4), actions(5)
    with pytest.warns(DemoWarning, match="1 of 1 trajectories lack their final observation"):
        demos = Demos.from_arrays([s], [a], terminated=[True])
    assert np.array_equal(demos.actions[0], a[:4])
    assert demos.terminated.tolist() == [False]
    assert demos.about["history"] == ["final observations missing: last actions dropped"]


def test_a_padded_row_is_never_taken_for_the_final_observation():
    s, a = np.zeros((1, 6, 3)), np.zeros((1, 6, 2))
    s[0, :4], a[0, :4] = states(3), actions(4)
    with pytest.warns(DemoWarning):
        demos = Demos.from_arrays(s, a, lengths=[4])
    assert np.array_equal(demos.observations[0], states(3))
    assert np.array_equal(demos.actions[0], actions(4)[:3])


def test_shift_pairs_each_state_with_the_action_taken_there():
    s, a = states(6), actions(6)
    demos = Demos.from_arrays([s[1:]], [a], terminated=[True], shift=1)
    assert np.array_equal(demos.observations[0], s[1:])
    assert np.array_equal(demos.actions[0], a[1:])
    assert demos.terminated.tolist() == [True]


def test_unknown_ends_are_cuts_and_say_so():
    demos = Demos.from_arrays([states(2)])
    assert not demos.terminated.any()
    assert demos.about["ends"] == "unknown"


@pytest.mark.parametrize("name", ["a.demos", "a.npz"])
@pytest.mark.parametrize("state_only", [False, True])
def test_saved_and_loaded_are_the_same(demos, tmp_path, name, state_only):
    demos = demos.without_actions() if state_only else demos
    back = Demos.load(demos.save(tmp_path / "new" / name))
    assert (back.hash, back.about) == (demos.hash, demos.about)
    assert (back.actions is None) == state_only
    assert [p.name for p in (tmp_path / "new").iterdir()] == [name]


@pytest.mark.parametrize("name", ["a.demos", "a.npz"])
def test_nothing_is_overwritten_unasked(demos, tmp_path, name):
    demos.save(tmp_path / name)
    with pytest.raises(DemoError, match="exists"):
        demos.save(tmp_path / name)
    demos.select(1).save(tmp_path / name, overwrite=True)
    assert len(Demos.load(tmp_path / name)) == 1
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_a_foreign_folder_is_not_overwritten(demos, tmp_path):
    (tmp_path / "a.demos").mkdir()
    with pytest.raises(DemoError, match="not a folder of demonstrations"):
        demos.save(tmp_path / "a.demos", overwrite=True)


def test_a_failed_write_leaves_nothing(demos, tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    for name in ("a.demos", "a.npz"):
        with pytest.raises(DemoError, match="No space left"):
            demos.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_overwrite_keeps_the_old(demos, tmp_path, monkeypatch):
    path = demos.save(tmp_path / "a.demos")
    rename = type(path).rename

    def fails(self, target):
        if self.name == "new":
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(type(path), "rename", fails)
    with pytest.raises(DemoError, match="Input/output error"):
        demos.select(1).save(path, overwrite=True)
    assert Demos.load(path).hash == demos.hash


def test_the_hash_sees_every_array_and_not_the_provenance(demos):
    def changed(**kwargs):
        given = {
            "observations": demos.observations,
            "actions": demos.actions,
            "terminated": demos.terminated,
        }
        return Demos(**(given | kwargs)).hash

    bumped = tuple(np.nextafter(x, np.float32(9)) for x in demos.observations)
    hashes = {
        demos.hash,
        changed(observations=bumped),
        changed(actions=tuple(-x for x in demos.actions)),
        changed(actions=None),
        changed(terminated=~demos.terminated),
    }
    assert len(hashes) == 5
    assert changed() == demos.hash == changed(about={"who": "else"})


def test_select_takes_the_first_or_a_seeded_choice(demos):
    assert np.array_equal(demos.select(2).observations[1], demos.observations[1])
    picks = {demos.select(1, seed=s).lengths[0] for s in range(20)}
    assert picks == {5, 1, 8}
    assert demos.select(2, seed=3).hash == demos.select(2, seed=3).hash


def test_subsample_keeps_honest_transitions(demos):
    kept = demos.subsample(3, seed=1)
    whole = {
        (s[t].tobytes(), a[t].tobytes(), s[t + 1].tobytes(), bool(end and t + 1 == len(a)))
        for s, a, end in zip(demos.observations, demos.actions, demos.terminated, strict=True)
        for t in range(len(a))
    }
    for s, a, end in zip(kept.observations, kept.actions, kept.terminated, strict=True):
        assert (s[0].tobytes(), a[0].tobytes(), s[1].tobytes(), bool(end)) in whole
    assert 3 <= len(kept) <= 7
    assert len({demos.subsample(3, seed=s).hash for s in range(20)}) > 3
    assert demos.subsample(1, seed=0) is demos


def test_arrays_are_copies_and_read_only():
    s = states(3)
    demos = Demos.from_arrays([s])
    s[0] = 9
    assert demos.observations[0][0, 0] != 9
    with pytest.raises(ValueError, match="read-only"):
        demos.observations[0][0] = 9


def test_the_manifest_can_be_read_by_a_person(demos, tmp_path):
    manifest = json.loads((demos.save(tmp_path / "a.demos") / "manifest.json").read_text())
    assert (manifest["version"], manifest["trajectories"], manifest["transitions"]) == (1, 3, 14)
    assert manifest["content_sha256"] == demos.hash
    assert manifest["about"]["env"] == "Hopper-v5"


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", ">f8", "i1", "u2", "i8"])
def test_numbers_are_converted_by_value(dtype):
    s = np.arange(12).reshape(4, 3)
    assert np.array_equal(Demos.from_arrays([s.astype(dtype)]).observations[0], s)
