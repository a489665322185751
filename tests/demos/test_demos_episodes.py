"""Data as people have it: trajectories of other packages, files of episodes, files that deceive."""

import collections
import dataclasses
import itertools
import os

import numpy as np
import pytest
from rows import ENDED, RNG, SIZES, A, S, flat, same, to_hdf5

from soar_il import cli
from soar_il.demos import Demos, convert
from soar_il.errors import DemoError, DemoWarning

h5py = pytest.importorskip("h5py")


@dataclasses.dataclass(frozen=True)
class Trajectory:
    """The fields of the package imitation."""

    obs: np.ndarray
    acts: np.ndarray
    infos: np.ndarray | None
    terminal: bool


def rollouts(infos=True):
    for s, a, ended in zip(S, A, ENDED, strict=True):
        each = np.array([{"TimeLimit.truncated": False, "episode": {"r": 5.0}}] * len(a))
        each[-1] = {"TimeLimit.truncated": not ended}
        yield Trajectory(s, a, each if infos else None, True)


def test_rollouts_of_imitation_and_what_ended_them():
    """There ``terminal`` is true of time limits too; only infos tell them apart."""
    assert same(Demos.load(list(rollouts())))
    demos = Demos.load(list(rollouts(infos=False)))
    assert np.array_equal(demos.actions[1], A[1])
    assert not demos.terminated.any()
    assert demos.about["ends"] == "unknown"


def test_the_npz_of_imitation(tmp_path):
    """Its infos are pickled objects, which are not looked at."""
    made = list(rollouts())
    np.savez_compressed(
        tmp_path / "final.npz",
        obs=np.concatenate([t.obs for t in made]),
        acts=np.concatenate([t.acts for t in made]),
        infos=np.concatenate([t.infos for t in made]),
        terminal=np.array([t.terminal for t in made]),
        indices=np.cumsum([len(t.acts) for t in made[:-1]]),
        rews=np.concatenate([np.ones(len(t.acts)) for t in made]),
    )
    (tmp_path / "final.npz").rename(tmp_path / "rollouts")  # the name need not tell
    with pytest.warns(DemoWarning, match="left out"):
        demos = Demos.load(tmp_path / "rollouts")
    assert demos.hash == Demos.from_arrays(S, A).hash
    assert demos.about["ends"] == "unknown"


def test_lists_of_dictionaries_of_pairs_and_of_arrays():
    steps = [np.arange(n) == n - 1 for n in SIZES]
    dicts = [
        {"observations": s, "actions": a, "terminals": last & ended}
        for s, a, last, ended in zip(S, A, steps, ENDED, strict=True)
    ]
    assert same(Demos.load(dicts))
    named_tuple = collections.namedtuple("Episode", "observations actions terminated")
    assert same(Demos.load([named_tuple(*each) for each in zip(S, A, ENDED, strict=True)]))
    assert Demos.load(list(zip(S, A, strict=True))).hash == Demos.from_arrays(S, A).hash
    assert Demos.load(S).hash == Demos.from_arrays(S).hash
    own = [{"state": s, "u": a} for s, a in zip(S, A, strict=True)]
    keys = {"observations": "state", "actions": "u"}
    assert Demos.load(own, keys=keys).hash == Demos.from_arrays(S, A).hash


WRONG_OBJECTS = {
    "nothing": ([], "is empty\n.*obs, acts and terminal"),
    "a number": (5, "is int, of no known kind"),
    "things without observations": ([object()], "trajectory 0: has no observations\n.*keys"),
    "three things": ([(S[0], A[0], A[0])], "trajectory 0: is 3 things"),
    "actions for some": (
        [{"obs": S[0], "acts": A[0]}, {"obs": S[1]}],
        "some have actions, some have none",
    ),
    "a wrong one": (
        [{"obs": S[0], "acts": A[0]}, {"obs": S[1], "acts": A[1], "done": np.zeros(9)}],
        r"trajectory 1, done: has shape",
    ),
}


@pytest.mark.parametrize("name", WRONG_OBJECTS)
def test_objects_that_are_no_trajectories(name):
    given, message = WRONG_OBJECTS[name]
    with pytest.raises(DemoError, match=message):
        Demos.load(given)


def episodes(path, container="", observations="observations"):
    """A group for each episode, as Minari and robomimic write them; ten and more sort by number."""
    with h5py.File(path, "w") as file:
        for i, (s, a, ended) in enumerate(zip(S, A, ENDED, strict=True)):
            group = file.create_group(f"{container}demo_{i + 8}")
            group[observations], group["actions"] = s, a
            last = np.arange(len(a)) == len(a) - 1
            group["terminations"], group["truncations"] = last & ended, last & ~ended
            group["rewards"] = np.ones(len(a))
    return path


@pytest.mark.filterwarnings("ignore::soar_il.errors.DemoWarning")
def test_hdf5_with_a_group_for_each_episode(tmp_path):
    assert same(Demos.load(episodes(tmp_path / "a.hdf5")))
    assert same(Demos.load(episodes(tmp_path / "b.hdf5", container="data/")))
    nested = episodes(tmp_path / "c.hdf5", "data/", "obs/state")
    with pytest.raises(DemoError, match=r"there is data/demo_.*obs/state.*\n.*keys observations"):
        Demos.load(nested)
    assert same(Demos.load(nested, keys={"observations": "obs/state"}))


def test_minari_by_id_folder_and_object(tmp_path, monkeypatch):
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    monkeypatch.chdir(tmp_path)
    s = RNG.uniform(-1, 1, size=(2, 6, 3)).astype("f4")
    demos = Demos.from_arrays(s, s[:, :5, :1], terminated=[True, False])
    convert.to_minari(demos, "test/pendulum-v0", "Pendulum-v1")
    folder = tmp_path / "datasets" / "test" / "pendulum-v0"
    for source in (
        "test/pendulum-v0",
        "minari/test/pendulum-v0",
        folder,
        minari.load_dataset("test/pendulum-v0"),
    ):
        assert Demos.load(source).hash == demos.hash
        assert Demos.load(source).about["env"] == "Pendulum-v1"
    with pytest.warns(DemoWarning, match="left out rewards"):
        assert Demos.load(folder / "data" / "main_data.hdf5").hash == demos.hash
    with pytest.raises(DemoError, match=r"minari/none-v0: is not a local.*\n.*minari download"):
        Demos.load("minari/none-v0")


def test_a_folder_of_huggingface_says_how(tmp_path):
    (tmp_path / "dataset_info.json").write_text("{}")
    with pytest.raises(DemoError, match=r"HuggingFace\n.*imitation\.data\.serialize\.load"):
        Demos.load(tmp_path)


def test_pickles_are_never_opened(tmp_path):
    (tmp_path / "x.pkl").write_bytes(b"cos\nsystem\n(S'touch exploded'\ntR.")
    with pytest.raises(DemoError, match="is a pickle, which can run code"):
        Demos.load(tmp_path / "x.pkl")
    assert not (tmp_path / "exploded").exists()


def raw_hdf5(write):
    def make(path):
        with h5py.File(path, "w") as file:
            file["actions"] = np.zeros((4, 1))
            write(file, path)

    return make


def self_made(file, path):
    source = h5py.VirtualSource(path.with_name("other.hdf5"), "x", shape=(4, 2))
    layout = h5py.VirtualLayout(shape=(4, 2), dtype="f4")
    layout[:] = source
    file.create_virtual_dataset("observations", layout)


def by_plug_in(file, path):
    plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plan.set_chunk((4, 2))
    plan.set_filter(32015, h5py.h5z.FLAG_OPTIONAL)
    space = h5py.h5s.create_simple((4, 2))
    h5py.h5d.create(file.id, b"observations", h5py.h5t.IEEE_F32LE, space, plan)


def beside(file, path):
    path.with_name("other").write_bytes(bytes(64))
    file.create_dataset(
        "observations", (4, 2), "f4", external=[(str(path.parent / "other"), 0, 64)]
    )


def elsewhere(file, path):
    with h5py.File(path.with_name("other.hdf5"), "w") as other:
        other["x"] = np.zeros((5, 2))
    file["observations"] = h5py.ExternalLink(path.with_name("other.hdf5"), "/x")


def circle(file, path):
    for name in itertools.islice("abc", 3):
        file[f"g/{name}"] = file["/"]


HOSTILE = {
    "numbers of another file": (raw_hdf5(elsewhere), "has no observations"),
    "a virtual array": (raw_hdf5(self_made), "another file"),
    "numbers beside the file": (raw_hdf5(beside), "another file"),
    "packed by a plug-in": (raw_hdf5(by_plug_in), "plug-in"),
    "a shape of a petabyte": (
        raw_hdf5(lambda f, p: f.create_dataset("observations", (10**9, 10**6), "f4", chunks=True)),
        "beyond the file",
    ),
    "objects": (
        raw_hdf5(lambda f, p: f.create_dataset("observations", (4,), h5py.string_dtype())),
        "plain numbers",
    ),
    "groups in a circle": (raw_hdf5(circle), "has no observations"),
    "text": (lambda path: path.write_text("hello" * 99), "not a usable HDF5 file"),
    "an empty file": (lambda path: path.write_bytes(b""), "not a usable HDF5 file"),
    "a pipe": (os.mkfifo, "not a regular file"),
    "nothing": (lambda path: None, "cannot be read"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hdf5_that_deceives_is_refused(tmp_path, name):
    make, message = HOSTILE[name]
    make(tmp_path / "x.hdf5")
    with pytest.raises(DemoError, match=message) as caught:
        Demos.load(tmp_path / "x.hdf5")
    assert caught.value.do


def test_hdf5_cut_short_raises_nothing_else(tmp_path):
    data = to_hdf5(tmp_path / "whole.hdf5", flat()).read_bytes()
    for size in range(0, len(data) - 1, 97):
        (tmp_path / "x.hdf5").write_bytes(data[:size])
        with pytest.raises(DemoError):
            Demos.load(tmp_path / "x.hdf5")


def test_the_commands_take_keys_and_ids(tmp_path, monkeypatch, capsys):
    """Through the command line: convert, info and check of arrays with names of their own."""
    rng = np.random.default_rng(3)
    states, taken = rng.uniform(-1, 1, (60, 3)), rng.uniform(-2, 2, (60, 1))
    np.savez(tmp_path / "x.npz", state=states, u=taken, episode_ends=np.array([30, 60]))
    keys = "observations=state,actions=u,ends=episode_ends"
    for words in (
        ("convert", tmp_path / "x.npz", tmp_path / "x.demos", "--env", "Pendulum-v1"),
        ("info", tmp_path / "x.npz"),
        ("check", tmp_path / "x.npz", "--env", "Pendulum-v1"),
    ):
        monkeypatch.setattr("sys.argv", ["soar", "demos", *map(str, words), "--keys", keys])
        cli.main()
        assert "58" in capsys.readouterr().out  # two last actions have no successor
    assert Demos.load(tmp_path / "x.demos").lengths.tolist() == [29, 29]
    monkeypatch.setattr("sys.argv", ["soar", "demos", "info", "no/such-id-v0"])
    with pytest.raises(SystemExit):
        cli.main()
