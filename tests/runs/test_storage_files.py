"""Segments, the log, the lock and the fingerprint."""

import json
import os
import signal
import subprocess
import sys

import faults
import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from stored import JSON, KEYS, attempt, killed, names, same

from soar_il import files
from soar_il.errors import StorageError
from soar_il.runs import checkpoint, lock, log, segments
from soar_il.runs.fingerprint import fingerprint


@pytest.mark.parametrize("power", ["", "power"])
def test_a_kill_leaves_a_file_old_or_new(tmp_path, power):
    for scenario in ("atomic", "segment", "cut"):
        (tmp_path / scenario).mkdir()
        found = []
        for folder in killed(tmp_path / scenario, scenario, power):
            files.sweep(folder)
            found.append({path.name: path.read_bytes() for path in folder.iterdir()})
        assert len(found) >= 5
        changes = [i for i in range(1, len(found)) if found[i] != found[i - 1]]
        assert len(changes) == 1, "one moment at which all changes"


def test_a_file_is_on_the_disk_before_its_name_and_its_name_before_the_call_returns(
    tmp_path, monkeypatch
):
    watched = faults.Faults(0, None)
    watched.install(monkeypatch.setattr)
    files.write_atomically(tmp_path / "file", b"new")
    monkeypatch.undo()
    steps = [event[:2] for event in watched.trace if event[0] in ("fsync", "replace")]
    assert steps[0] == ("fsync", (tmp_path / "file").stat().st_ino)
    assert steps[1][0] == "replace"
    assert steps[2] == ("fsync", tmp_path.stat().st_ino)


def test_what_a_dead_process_of_the_same_number_left_is_no_obstacle(tmp_path):
    """Every container starts counting its processes anew."""
    (tmp_path / f"tmp-{os.getpid()}-file").write_bytes(b"half")
    files.write_atomically(tmp_path / "file", b"new")
    for left in ("000000001", "gone-000000001.old"):
        (tmp_path / f"tmp-{os.getpid()}-{left}").mkdir()
        (tmp_path / f"tmp-{os.getpid()}-{left}" / checkpoint.STATE).touch()
    faults.put(tmp_path, 1, 1)
    faults.put(tmp_path, 1, 2)
    assert names(tmp_path) == ["000000001", "file"]


def test_sweep_spares_the_living_and_what_is_not_temporary(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for pid in (dead.pid, os.getpid()):
        (tmp_path / f"tmp-{pid}-file").touch()
        (tmp_path / f"tmp-{pid}-dir" / "inner").mkdir(parents=True)
    (tmp_path / f"tmp-{10**30}-file").touch()
    kept = [f"tmp-{os.getppid()}-file", "tmp-notes", "other"]
    for name in kept:
        (tmp_path / name).touch()
    files.sweep(tmp_path)
    files.sweep(tmp_path / "absent")
    assert names(tmp_path) == sorted(kept)


def test_sha256_is_that_of_the_file(tmp_path):
    (tmp_path / "abc").write_bytes(b"abc")
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert files.sha256(tmp_path / "abc") == digest


def test_a_segment_is_what_was_written_or_an_error(tmp_path):
    arrays, _ = faults.state(3)
    segment = segments.write(tmp_path, 3, arrays)
    segment = segments.Segment(*json.loads(json.dumps(segment)))
    assert segment == ("000000003.safetensors", files.sha256(tmp_path / segment.name))
    same(segments.read(tmp_path, segment), arrays)
    data = bytearray((tmp_path / segment.name).read_bytes())
    for place in range(len(data)):
        data[place] ^= 4
        (tmp_path / segment.name).write_bytes(data)
        with pytest.raises(StorageError, match=segment.name):
            segments.read(tmp_path, segment)
        data[place] ^= 4
    (tmp_path / segment.name).unlink()
    with pytest.raises(StorageError, match=segment.name):
        segments.read(tmp_path, segment)


def test_segments_after_the_checkpoint_go(tmp_path):
    for k in range(5):
        segments.write(tmp_path, k, faults.state(k)[0])
    (tmp_path / "notes").touch()
    segments.prune(tmp_path, 2)
    segments.prune(tmp_path / "absent", 2)
    assert names(tmp_path) == [f"{k:09d}.safetensors" for k in range(3)] + ["notes"]


@hypothesis.settings(max_examples=50)
@hypothesis.given(st.lists(st.dictionaries(KEYS, JSON), max_size=4))
def test_the_log_gives_back_what_was_appended(tmp_path_factory, appended):
    path = tmp_path_factory.mktemp("run") / "metrics.jsonl"
    appended = [{**record, "k": k} for k, record in enumerate(appended)]
    with log.Log(path) as lines:
        for record in appended:
            lines.append(record)
            assert log.read(path)[-1] == record
    assert log.read(path) == appended


def test_the_log_writes_numpy_s_numbers_and_null_for_nan(tmp_path):
    with log.Log(tmp_path / "log") as lines:
        third = np.float32(1 / 3)
        lines.append({"k": np.int64(1), "x": [third, np.nan, {"y": -np.inf}], "z": np.ones(2)})
        lines.sync()
    expected = {"k": 1, "x": [float(third), None, {"y": None}], "z": [1.0, 1.0]}
    assert log.read(tmp_path / "log") == [expected]
    line = json.loads((tmp_path / "log").read_text())
    assert list(line)[-1] == "crc"


def test_a_log_torn_anywhere_in_its_last_line_goes_on_as_if_it_were_not(tmp_path):
    path, records = tmp_path / "log", faults.records(4)
    faults.logged(path, 4)
    data = path.read_bytes()
    assert log.read(path) == records
    last = len(b"".join(data.splitlines(keepends=True)[:-1]))
    for length in range(last, len(data)):
        path.write_bytes(data[:length])
        assert log.read(path) == records[:3]
        with log.Log(path) as lines:
            lines.append(records[3])
        assert path.read_bytes() == data
    path.write_bytes(data[:-5] + b"~" + data[-4:])
    assert log.read(path) == records[:3]


def test_no_flipped_bit_in_the_log_changes_a_record(tmp_path):
    path, records = tmp_path / "log", faults.records(4)
    faults.logged(path, 4)
    data = bytearray(path.read_bytes())
    inner = len(data.splitlines()[0])
    for flip in range(8 * len(data)):
        data[flip // 8] ^= 1 << flip % 8
        path.write_bytes(data)
        error = attempt(lambda: log.read(path))
        if error:
            assert ", line " in error
        else:
            found = log.read(path)
            assert found == records[: len(found)]
            assert flip // 8 > inner
        data[flip // 8] ^= 1 << flip % 8


def test_damage_in_the_middle_of_the_log_names_the_line(tmp_path):
    faults.logged(tmp_path / "log", 4)
    data = (tmp_path / "log").read_bytes()
    (tmp_path / "log").write_bytes(data.replace(b'"k":1', b'"k":7'))
    for use in (log.read, log.Log, lambda path: log.cut(path, 1)):
        with pytest.raises(StorageError, match="log, line 2: "):
            use(tmp_path / "log")


@pytest.mark.parametrize("k", [-1, 0, 3, 9, 20])
def test_a_cut_log_is_the_log_of_a_run_that_got_no_further(tmp_path, k):
    faults.logged(tmp_path / "log", 10)
    faults.logged(tmp_path / "shorter", min(k + 1, 10))
    with open(tmp_path / "log", "ab") as file:
        file.write(b'{"k":10,"lo')
    log.cut(tmp_path / "log", k)
    log.cut(tmp_path / "absent", k)
    assert (tmp_path / "log").read_bytes() == (tmp_path / "shorter").read_bytes()
    assert names(tmp_path) == ["log", "shorter"]


def test_a_line_that_does_not_fit_leaves_the_log_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "log"
    with monkeypatch.context() as patched:
        faults.Faults(2, faults.no_space, ("write",)).install(patched.setattr)
        with log.Log(path) as lines:
            lines.append({"k": 0})
            with pytest.raises(StorageError, match="free some space"):
                lines.append({"k": 1})
            lines.append({"k": 1})
    assert log.read(path) == [{"k": 0}, {"k": 1}]


HOLDER = """
import pathlib, sys, time
from soar_il.runs import lock
with lock.held(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("end", ["exit", "kill"])
def test_a_run_has_one_process_and_is_free_when_it_ends(tmp_path, end):
    run = tmp_path / "run"
    command = [sys.executable, "-c", HOLDER, str(run)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StorageError) as caught, lock.held(run):
            pass
        assert str(run) in str(caught.value)
        assert f"in use by process {holder.pid} since 20" in str(caught.value)
        assert f"kill {holder.pid}" in str(caught.value)
        if end == "kill":
            holder.send_signal(signal.SIGKILL)
        else:
            holder.stdin.close()
        holder.wait(20)
    with lock.held(run):
        assert (run / "lock").read_text().startswith(f"{os.getpid()} ")


def test_a_lock_is_not_shared_within_a_process_and_is_free_after_an_error(tmp_path):
    def fail():
        with lock.held(tmp_path):
            with pytest.raises(StorageError, match="in use by this process"), lock.held(tmp_path):
                pass
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with lock.held(tmp_path):
        pass


def test_the_fingerprint_sees_every_difference_but_layout_and_order():
    base = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array(0.0)}
    same_ = {"b": base["b"], "a": np.asfortranarray(base["a"]).astype(">f4")}
    assert fingerprint(same_) == fingerprint(base)
    others = [
        {**base, "a": base["a"].reshape(3, 2)},
        {**base, "a": base["a"].view(np.int32)},
        {**base, "b": np.array(-0.0)},
        {**base, "b": np.array([0.0])},
        {"a": base["a"], "c": base["b"]},
        {"a": base["b"], "b": base["a"]},
        {"a": base["a"]},
        {**base, "c": np.zeros(0)},
        {},
    ]
    assert len({fingerprint(arrays) for arrays in [base, *others]}) == len(others) + 1
    known = "70a8212fa9fd35e4e025a48fd5235a771bd578c82c946f8e1e86627374652bd0"
    assert fingerprint(base) == known, "a fingerprint noted by an earlier version must still match"
