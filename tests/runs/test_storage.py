"""A checkpoint is what was saved, or it is said to be damaged."""

import errno
import os
import subprocess
import sys

import faults
import hypothesis
import hypothesis.extra.numpy as hnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import strategies as st
from stored import (
    JSON,
    KEYS,
    attempt,
    killed,
    names,
    no_warning,
    same,
    temporaries,
    whole,
)

from soar_il import files
from soar_il.arrays import DTYPES, pack
from soar_il.errors import StorageError
from soar_il.runs import checkpoint, segments
from soar_il.seal import seal


@st.composite
def layouts(draw):
    """Arrays of every kind that can be stored, some of them views that are not contiguous."""
    dtype = np.dtype(draw(st.sampled_from(sorted(DTYPES))))
    if draw(st.booleans()):
        dtype = dtype.newbyteorder(">")
    array = draw(hnp.arrays(dtype, hnp.array_shapes(min_dims=0, min_side=0, max_side=4)))
    view = draw(st.sampled_from(["plain", "transposed", "reversed", "strided", "broadcast"]))
    if array.ndim and view != "plain":
        array = {
            "transposed": array.T,
            "reversed": array[::-1],
            "strided": array[..., ::2],
            "broadcast": np.broadcast_to(array, (2, *array.shape)),
        }[view]
    return array


@hypothesis.settings(max_examples=60)
@hypothesis.given(st.dictionaries(KEYS, layouts(), max_size=4), st.dictionaries(KEYS, JSON))
def test_a_checkpoint_comes_back_to_the_bit(tmp_path_factory, state, meta):
    path = checkpoint.save(tmp_path_factory.mktemp("run"), 7, state, meta)
    found = checkpoint.load(path)
    same(found.arrays, state)
    assert (found.k, found.meta) == (7, meta)


def test_scalars_empty_arrays_and_views_keep_dtype_shape_and_values(tmp_path):
    grid = np.arange(12, dtype=np.float32).reshape(3, 4)
    state = {
        "scalar": np.array(1.5, np.float32),
        "numpy scalar": np.float64(2.5),
        "bool": np.array([True, False]),
        "int32": np.array([-(2**31), 2**31 - 1], np.int32),
        "uint32": np.array(2**32 - 1, np.uint32),
        "empty": np.zeros((0, 3), np.float32),
        "transposed": grid.T,
        "columns": grid[:, 1::2],
        "nan, -0": np.array([np.nan, -0.0, np.inf]),
        "big-endian": np.arange(3, dtype=">i4"),
    }
    same(checkpoint.load(checkpoint.save(tmp_path / "new" / "folder", 0, state, {})).arrays, state)
    same(segments.read(tmp_path, segments.write(tmp_path, 0, state)), state)


def test_the_same_arrays_are_the_same_bytes():
    arrays, _ = faults.state(1)
    assert pack(arrays) == pack(dict(reversed(arrays.items())))


@pytest.mark.parametrize("bad", [np.zeros(2, ml_dtypes.bfloat16), np.array("text"), np.array([{}])])
def test_an_array_that_could_not_be_read_back_is_refused_when_saved(tmp_path, bad):
    with pytest.raises(StorageError, match=r"'weights'(.|\n)*convert it"):
        checkpoint.save(tmp_path, 1, {"weights": bad}, {})
    with pytest.raises(StorageError, match="reserved"):
        checkpoint.save(tmp_path, 1, {"__metadata__": np.zeros(2)}, {})
    assert names(tmp_path) == []


def test_the_two_newest_generations_are_kept(tmp_path):
    for k in (3, 5, 8, 13):
        faults.put(tmp_path, k, k)
    assert names(tmp_path) == ["000000008", "000000013"]
    assert whole(checkpoint.newest(tmp_path, no_warning)) == 13
    assert whole(checkpoint.load(tmp_path / "000000008")) == 8


def test_a_folder_without_checkpoints_has_none(tmp_path):
    assert checkpoint.newest(tmp_path / "absent", no_warning) is None
    assert checkpoint.newest(tmp_path, no_warning) is None


def test_a_generation_saved_again_is_the_new_one(tmp_path):
    faults.put(tmp_path, 1, 1)
    faults.put(tmp_path, 2, 2)
    faults.put(tmp_path, 2, 3)
    assert names(tmp_path) == ["000000001", "000000002"]
    assert whole(checkpoint.newest(tmp_path, no_warning)) == 3


def test_generations_of_an_abandoned_future_go(tmp_path):
    faults.put(tmp_path, 2, 2)
    faults.put(tmp_path, 9, 9)
    checkpoint.prune(tmp_path, 9)
    assert names(tmp_path) == ["000000002", "000000009"]
    checkpoint.prune(tmp_path, 2)
    assert names(tmp_path) == ["000000002"]
    faults.put(tmp_path, 9, 9)
    faults.put(tmp_path, 4, 4)
    assert names(tmp_path) == ["000000002", "000000004"]


@pytest.mark.parametrize("power", ["", "power"])
@pytest.mark.parametrize(
    ("scenario", "outcomes"),
    [
        ("first", [None, (1, 10)]),
        ("next", [(2, 2), (3, 10)]),
        ("again", [(2, 2), (2, 10)]),
        ("only", [(2, 2), (2, 10)]),
        ("both", [(2, 2), (2, 10)]),
        ("back", [(4, 2), (3, 10)]),
    ],
)
def test_a_kill_at_any_point_of_a_save_leaves_this_or_the_last_generation(
    tmp_path, scenario, outcomes, power
):
    found = []
    for folder in killed(tmp_path, scenario, power):
        newest = checkpoint.newest(folder, no_warning)
        found.append(newest and (newest.k, whole(newest)))
        files.sweep(folder)
        assert temporaries(folder) == []
        faults.put(folder, 5, 5)
        assert whole(checkpoint.newest(folder, no_warning)) == 5
        assert len(names(folder)) == (2 if newest else 1)
    assert len(found) >= 10
    assert found == sorted(found, key=outcomes.index)
    assert set(found) == set(outcomes)


def test_nothing_is_renamed_before_it_is_on_the_disk_nor_removed_before_its_successor_is(
    tmp_path, monkeypatch
):
    faults.put(tmp_path, 1, 1)
    faults.put(tmp_path, 2, 2)
    watched = faults.Faults(0, None)
    watched.install(monkeypatch.setattr)
    final = faults.put(tmp_path, 3, 3)
    monkeypatch.undo()
    trace = [event[:2] for event in watched.trace]
    steps = [
        *(("fsync", (final / file).stat().st_ino) for file in (checkpoint.STATE, "manifest.json")),
        ("fsync", final.stat().st_ino),
        next(event for event in trace if event[0] == "rename"),
        ("fsync", tmp_path.stat().st_ino),
        [event for event in trace if event[0] == "rename"][1],
    ]
    assert [trace.index(step) for step in steps] == sorted(trace.index(step) for step in steps)


def test_a_file_system_that_cannot_sync_directories_is_no_obstacle(tmp_path, monkeypatch):
    fsync = os.fsync

    def refuse(fd):
        if os.path.isdir(f"/proc/self/fd/{fd}"):
            raise OSError(errno.EINVAL, "no")
        fsync(fd)

    monkeypatch.setattr(os, "fsync", refuse)
    assert whole(checkpoint.load(faults.put(tmp_path, 1, 1))) == 1


@pytest.mark.parametrize("k", [2, 3])
def test_a_full_disk_at_any_write_or_sync_spares_what_was_saved(tmp_path, monkeypatch, k):
    for at in range(1, 20):
        folder = tmp_path / str(at)
        faults.put(folder, 1, 1)
        faults.put(folder, 2, 2)
        with monkeypatch.context() as patched:
            faults.Faults(at, faults.no_space, ("write", "fsync")).install(patched.setattr)
            error = attempt(lambda folder=folder: faults.put(folder, k, 10))
        if not error:
            break
        assert f"{folder / f'{k:09d}'}: cannot be written (No space left on device)" in error
        assert "free some space" in error
        newest = checkpoint.newest(folder, no_warning)
        # Only the last sync, of the folder, comes after the new generation has its name.
        assert whole(newest) == (2 if at < 6 else 10)
        assert whole(checkpoint.load(folder / "000000001")) == 1
        assert temporaries(folder) == []
    assert at == 7


def test_any_other_fault_of_the_disk_spares_what_was_saved(tmp_path, monkeypatch):
    for at in range(1, 40):
        folder = tmp_path / str(at)
        faults.put(folder, 1, 1)
        faults.put(folder, 2, 2)
        with monkeypatch.context() as patched:
            fault = faults.Faults(at, faults.no_space, ("mkdir", "rename", "unlink", "rmdir"))
            fault.install(patched.setattr)
            error = attempt(lambda folder=folder: faults.put(folder, 2, 10))
        assert whole(checkpoint.newest(folder, no_warning)) == (2 if error else 10)
        if fault.left > 0:
            break
    assert at > 5
    files.sweep(folder)
    assert temporaries(folder) == []


LIMITED = """
import resource, sys, pathlib, numpy as np
from soar_il.runs import checkpoint, log, segments
folder = pathlib.Path(sys.argv[1])
lines = log.Log(folder / "log")
lines.append({"k": 0})
resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))
big = {"a": np.ones(5000)}
for write in (
    lambda: checkpoint.save(folder / "checkpoints", 2, big, {}),
    lambda: segments.write(folder, 1, big),
    lambda: lines.append({"k": 1, "text": "x" * 20000}),
):
    try:
        write()
    except Exception as error:
        print(type(error).__name__, str(error).replace("\\n", " "))
"""


def test_a_write_that_the_system_stops_half_way_leaves_nothing(tmp_path):
    faults.put(tmp_path / "checkpoints", 1, 1)
    command = [sys.executable, "-c", LIMITED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    errors = done.stdout.splitlines()
    assert len(errors) == 3
    for error, name in zip(errors, ("000000002", "000000001.safetensors", "log"), strict=True):
        assert error.startswith(f"StorageError {tmp_path}")
        assert f"{name}: cannot be written (File too large)" in error
        assert "ulimit -f" in error
    assert names(tmp_path) == ["checkpoints", "log"]
    assert names(tmp_path / "checkpoints") == ["000000001"]
    assert whole(checkpoint.newest(tmp_path / "checkpoints", no_warning)) == 1
    assert (tmp_path / "log").read_bytes() == seal({"k": 0}, "crc")
