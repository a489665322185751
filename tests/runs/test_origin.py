"""What was damaged, exchanged or changed by hand is noticed before a run goes on."""

import json
import os
import random
import shutil
import sys
import warnings

import pytest
import soak
import tiny

from soar_il import config, provenance
from soar_il.demos import Demos
from soar_il.errors import ConfigError, DemoWarning, SoarError, StorageError
from soar_il.policy import Policy
from soar_il.runs import checkpoint, log, origin, plans, segments
from soar_il.runs.run import Run
from soar_il.sweep import book


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A short run by the command, evaluated."""
    tiny.register()
    place = tmp_path_factory.mktemp("origin")
    tiny.demos().save(place / "points.demos")
    common = ["--demos", place / "points.demos", "--env", "Point-v0", "--out", place / "run"]
    short = ["--steps", 180, "--evaluate-every", 60, "--episodes", 2, "--set", *tiny.SETTINGS]
    soar("train", *common, "--critics", 4, *short)
    return place / "run"


def soar(*arguments):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["soar", *map(str, arguments)])
        tiny.main()


@pytest.fixture
def run(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    return tmp_path / "run"


def edited(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_an_edited_config_is_refused_and_named_wherever_it_is_read(run):
    edited(run / "config.json", '"batch": 16', '"batch": 17')
    message = r"config\.json: was changed since the run began(.|\n)*put it back"
    for read in (lambda: Run.resume(run), lambda: origin.read_config(run)):
        with pytest.raises(StorageError, match=message):
            read()


def test_what_is_allowed_is_said_and_noted(run):
    edited(run / "config.json", '"seed": 0', '"seed": 1')
    said = []
    Run.resume(run, allow_drift=True, say=said.append).close()
    assert any("config.json was changed" in line for line in said)
    about = origin.read_provenance(run)
    assert any("config.json was changed" in line for line in about["drift"])
    Run.resume(run, say=said.append).close()  # it is as it was accepted
    assert origin.read_config(run).seed == 1


def test_other_demonstrations_are_refused_and_named(run):
    shutil.rmtree(run / "demos.demos")
    tiny.demos(3).save(run / "demos.demos")
    with pytest.raises(StorageError, match=r"demos\.demos/manifest\.json: was changed since"):
        Run.resume(run)


def test_other_code_is_refused_and_the_policy_still_acts(run, monkeypatch):
    about = {**provenance.about(), "code": "0" * 64}
    monkeypatch.setattr(provenance, "about", lambda: about)
    with pytest.raises(StorageError, match=r"code was [0-9a-f]{64}, is 0000"):
        Run.resume(run)
    Policy.load(max((run / "snapshots").iterdir()))


def test_the_hash_of_the_code_sees_what_decides_bits_alone(tmp_path, monkeypatch):
    package = tmp_path / "soar_il"
    for name in ("learners/sac.py", "report/html.py", "notes.txt", "provenance.py"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("1")
    monkeypatch.setattr(provenance, "__file__", str(package / "provenance.py"))
    hashes = []
    for name in ("", "report/html.py", "notes.txt", "learners/sac.py"):
        if name:
            (package / name).write_text("2")
        hashes.append(provenance.code.__wrapped__())
    assert hashes[0] == hashes[1] == hashes[2] != hashes[3]


def test_a_run_of_an_earlier_version_goes_on_and_says_what_is_not_known(run):
    about = {k: v for k, v in provenance.about().items() if k != "code"}
    (run / "provenance.json").write_text(json.dumps({**about, "format": 1}))
    said = []
    Run.resume(run, say=said.append).close()
    assert any("older soar-il" in line for line in said)


def every_file(run, tmp_path):
    """Each kind of file, and how it is read when a run goes on, is used or is reported."""
    sweep, archive = tmp_path / "x.sweep.json", tmp_path / "x.npz"
    said = {"title": "x", "command": "train", "demos": {}, "jobs": []}
    said |= {"trained": True, "purpose": "report"}
    sweep.write_bytes(book.seal(said, "sha256", indent=1))
    demos = tiny.demos()
    demos.save(archive)
    newest = checkpoint.newest(run / "checkpoints", pytest.fail)
    segment = segments.noted(newest.meta["segments"], "x")[0]
    generation = run / "checkpoints" / f"{newest.k:09d}"

    def check():
        origin.check(run, False, pytest.fail)

    def same():
        """Of an archive some bits say nothing, such as those of its time of day; a name that is
        not known is said aloud."""
        with warnings.catch_warnings():
            warnings.simplefilter("error", DemoWarning)
            try:
                unharmed = Demos.load(archive).hash == demos.hash
            except DemoWarning:
                unharmed = True
        if unharmed:
            raise StorageError("says the same, or says what it lacks", str(archive))

    def made_again(name):
        def read():
            log.cut(run / name, newest.k, refuse)

        return read

    return {
        run / "config.json": check,
        run / "provenance.json": check,
        run / "demos.demos" / "manifest.json": check,
        run / "demos.demos" / "data.safetensors": lambda: Demos.load(run / "demos.demos"),
        run / "plan.json": lambda: plans.read(run),
        run / "metrics.jsonl": lambda: log.require(run / "metrics.jsonl", newest.k),
        run / "scores.jsonl": made_again("scores.jsonl"),
        run / "times.jsonl": made_again("times.jsonl"),
        generation / "manifest.json": lambda: checkpoint.load(generation),
        generation / "state.safetensors": lambda: checkpoint.load(generation),
        run / "segments" / segment.name: lambda: segments.read(run / "segments", segment),
        max((run / "snapshots").iterdir()): lambda: Policy.load(max((run / "snapshots").iterdir())),
        sweep: lambda: book.read(sweep),
        archive: same,
    }


def refuse(warning):
    raise StorageError(warning)


@pytest.mark.parametrize("flips", soak.counts(40, 1000))
def test_no_flipped_bit_of_a_run_s_files_goes_unseen(run, tmp_path, flips):
    """Every kind of file that a run, a sweep, a policy or demonstrations are kept in."""
    choose = random.Random(0)
    for path, read in every_file(run, tmp_path).items():
        data = bytearray(path.read_bytes())
        if path.suffix != ".npz":
            read()  # sound
        for _ in range(flips):
            place, bit = choose.randrange(len(data)), 1 << choose.randrange(8)
            data[place] ^= bit
            path.write_bytes(data)
            with pytest.raises(SoarError) as noticed:
                pytest.fail(f"{path.name}, byte {place}") if read() is None else None
            assert path.name in str(noticed.value)
            data[place] ^= bit
        path.write_bytes(data)


def test_a_run_whose_log_lacks_what_its_checkpoint_counts_on_does_not_go_on(run):
    """A damaged last line looks as one that a dying process left torn."""
    path = run / "metrics.jsonl"
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    path.write_bytes(data)
    with pytest.raises(StorageError, match=r"metrics\.jsonl: lacks 1 of 2 iterations(.|\n)*copy"):
        Run.resume(run)


def test_damaged_scores_are_made_again(whole, run, capsys):
    scores = run / "scores.jsonl"
    before = scores.read_bytes()
    data = bytearray(before)
    data[len(data) // 2] ^= 1
    scores.write_bytes(data)
    soar("resume", run)
    assert "is made again" in capsys.readouterr().out.replace("\n", " ")
    assert scores.read_bytes() == before
    scores.write_bytes(random.Random(0).randbytes(500))
    soar("resume", run)
    assert scores.read_bytes() == before


def test_damage_that_can_be_made_again_ends_a_log_and_is_said(tmp_path):
    path, said = tmp_path / "log", []
    with log.Log(path) as lines:
        for k in range(4):
            lines.append({"k": k})
    path.write_bytes(path.read_bytes().replace(b'"k":2', b'"k":7'))
    log.cut(path, 9, said.append)
    assert log.read(path) == [{"k": 0}, {"k": 1}]
    assert "line 3" in said[0]


DEEP = "[" * 100_000
BAD = {
    "an empty object": "{}",
    "a list": "[1]",
    "no JSON": "{",
    "deep": '{"env": ' + DEEP,
    "nothing": "",
    "a number": "1e999",
    "not text": b"\xff\xfe\x00",
    "settings of a list": '{"env": "Point-v0", "base": "ml-irl", "learner": [1]}',
    "a base of a number": '{"env": "Point-v0", "base": 7}',
    "a name that is unknown": '{"env": "Point-v0", "base": "ml-irl", "colour": 1}',
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("file", ["config.json", "provenance.json", "plan.json", "x.sweep.json"])
def test_what_is_not_the_file_it_should_be_gives_one_clear_error(tmp_path, file, name):
    content = BAD[name].encode() if isinstance(BAD[name], str) else BAD[name]
    (tmp_path / "provenance.json").write_text('{"format": 1}')
    (tmp_path / file).write_bytes(content)
    read = {
        "config.json": lambda: origin.read_config(tmp_path),
        "provenance.json": lambda: origin.check(tmp_path, False, print),
        "plan.json": lambda: plans.read(tmp_path),
        "x.sweep.json": lambda: book.read(tmp_path / file),
    }[file]
    if (file, name) == ("provenance.json", "an empty object"):
        return read()  # of an old version that noted nothing
    with pytest.raises(SoarError, match=file):
        read()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_a_pipe_in_place_of_a_file_is_refused_at_once(run):
    readers = {
        "config.json": lambda path: origin.read_config(path.parent),
        "provenance.json": lambda path: origin.read_provenance(path.parent),
        "plan.json": lambda path: plans.read(path.parent),
        "metrics.jsonl": log.read,
        "preset.toml": config.read_toml,
        "policy.safetensors": Policy.load,
        "checkpoints": lambda path: Run.resume(path.parents[2], say=print),
    }
    for name, read in readers.items():
        path = run / name
        if name == "checkpoints":
            path = max(path.iterdir()) / "manifest.json"
        content = path.read_bytes() if path.exists() else None
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        if name == "checkpoints":
            for other in set((run / name).iterdir()) - {path.parent}:
                shutil.rmtree(other)
        with pytest.raises(SoarError, match=r"is not a regular file"):
            read(path)
        path.unlink()
        if content is not None:
            path.write_bytes(content)


def test_a_deep_toml_is_one_clear_error(tmp_path):
    (tmp_path / "x.toml").write_text("a = " + DEEP)
    with pytest.raises(ConfigError, match=r"x\.toml"):
        config.read_toml(tmp_path / "x.toml")
