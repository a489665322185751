"""Sixty wrong files in place of every kind that is read: one clear error for each."""

import os
import pickle
import shutil
import warnings

import pytest
import test_fuzz

from soar_il.errors import DemoWarning, SoarError

DEEP = b"[" * 100_000
KNOWS_ITS_BYTES = {"state", "segment", "demonstrations' data"}  # readers that are given content


class Harmful:
    def __reduce__(self):
        return (os.mkdir, ("exploded",))


CONTENTS = {
    "nothing": b"",
    "one byte": b"\0",
    "zeros": bytes(1000),
    "text": b"hello, this is something else\n",
    "not text": b"\xff\xfe\x00\x80" * 20,
    "a pickle": pickle.dumps(Harmful()),
    "an empty object": b"{}",
    "a list": b"[1]",
    "a number": b"1e999",
    "JSON that does not end": b'{"format": 1',
    "deep lists": DEEP,
    "deep objects": b'{"a":' * 100_000,
    "an object of other names": b'{"colour": "blue", "k": "three"}',
    "a large number of digits": b'{"k": ' + b"9" * 10_000 + b"}",
    "the start of a zip": b"PK\x03\x04" + bytes(60),
    "a header of 100 MB": (100 * 2**20).to_bytes(8, "little") + b"{}",
}
NODES = {
    "a folder": os.mkdir,
    "no file": lambda path: None,
    "a link to nowhere": lambda path: os.symlink("nowhere", path),
    "a link to itself": lambda path: os.symlink(path, path),
    "a pipe": getattr(os, "mkfifo", os.mkdir),
    "a link to endless zeros": lambda path: os.symlink("/dev/zero", path),
}
CUTS = 50
TOML = """a =|= 1|[|[[|[]|"|a = 1 2|a = 'x|a = \"\"\"|a = [1,|a = {|a = {b = 1|a.b. = 1|a..b = 1
a b = 1|a = 01|a = 1_|a = _1|a = 0x|a = 1.|a = .5|a = 1e|a = +|a = tru|a = True|a = nan1
a = 2020-13-01|a = "\\q"|a = "\\u12"|[learner]|seed = 4|[a]]|[a|seed.b = 2|a = "\x01"|a = [1 2]
a = {b = 1,, c = 2}|é = 1|a = 1 # \x01|[[learner]]""".replace("\n", "|").split("|")
SPECIAL = {"a folder", "a pipe", "a link to endless zeros"}

# A log may lack its end, for a process may die while it writes a line: what is no line at all is an
# end of that kind, and ``soar resume`` asks whether all iterations are there. What lies beside runs
# says nothing where it is damaged. An empty TOML asks for nothing.
LOGS = {"log", "lines", "cut lines", "progress"}
BESIDE = {"done", "failed", "progress"}
FINE = {
    ("card", "no file"),
    ("provenance", "an empty object"),
    ("toml", "nothing"),
    ("toml", "a list"),  # of tables
    ("preset", "nothing"),
}


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    return test_fuzz.made(tmp_path_factory.mktemp("sound"))


def sound(kind):
    return kind.sound if kind.forge is None else kind.forge(kind.sound)


def answer(kind, path):
    """What is said of a file; nothing if it is read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DemoWarning)
        try:
            kind.read(path)
        except SoarError as error:
            return str(error)
    return ""


def wrong_files(name, kind, root):
    """Every wrong file of a kind, put in its place: what is wrong, and where it lies."""
    for what, content in CONTENTS.items():
        yield what, kind.put(root, content)
    whole = sound(kind)
    for line in TOML if name in ("toml", "preset") else ():
        yield line, kind.put(root, whole.replace(b"[learner]", f"{line}\n[learner]".encode()))
    if name not in LOGS | {"toml", "preset"}:
        for n in range(CUTS):
            yield f"cut after part {n} of {CUTS}", kind.put(root, whole[: n * len(whole) // CUTS])
    for what, make in NODES.items() if name not in KNOWS_ITS_BYTES else ():
        path = kind.put(root, whole)
        path.unlink()
        make(path)
        yield what, path
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


@pytest.mark.parametrize("name", sorted(set(test_fuzz.NAMES) - LOGS - BESIDE))
def test_a_wrong_file_in_place_of_a_right_one_is_one_clear_error(
    kinds, name, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    silent, unclear = [], []
    for what, path in wrong_files(name, kinds[name], tmp_path / "x"):
        said = answer(kinds[name], path)
        if not said and (name, what) not in FINE:
            silent.append(what)
        elif said and not ("what to do" in said and str(tmp_path / "x") in said):
            unclear.append((what, said))
    assert (silent, unclear) == ([], [])
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize("name", sorted(BESIDE))
def test_what_lies_beside_runs_is_no_obstacle_however_damaged(kinds, name, tmp_path):
    for what, path in wrong_files(name, kinds[name], tmp_path / "x"):
        assert answer(kinds[name], path) == "", what


@pytest.mark.parametrize("name", sorted(LOGS - BESIDE))
def test_a_log_is_read_as_far_as_it_is_whole(kinds, name, tmp_path):
    whole = sound(kinds[name])
    for n in range(CUTS):
        path = kinds[name].put(tmp_path / "x", whole[: n * len(whole) // CUTS])
        assert answer(kinds[name], path) == ""
    for what, path in wrong_files(name, kinds[name], tmp_path / "x"):
        said = answer(kinds[name], path)
        assert ("not a regular file" in said) == (what in SPECIAL), (what, said)
