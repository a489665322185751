"""Damage is seen wherever it is, and said."""

import json
import os
import random

import faults
import pytest
from stored import (
    no_warning,
    whole,
)

from soar_il.errors import StorageError
from soar_il.runs import checkpoint
from soar_il.seal import seal


def damaged(path):
    with pytest.raises(StorageError, match=str(path)):
        checkpoint.load(path)


def test_no_flipped_bit_goes_unseen(tmp_path):
    path = faults.put(tmp_path, 1, 1)
    for name in (checkpoint.STATE, checkpoint.MANIFEST):
        data = bytearray((path / name).read_bytes())
        flips = random.Random(0).sample(range(8 * len(data)), 1000)
        for flip in flips:
            data[flip // 8] ^= 1 << flip % 8
            (path / name).write_bytes(data)
            damaged(path)
            data[flip // 8] ^= 1 << flip % 8
        (path / name).write_bytes(data)
    assert whole(checkpoint.load(path)) == 1


def test_no_truncation_zeroed_block_or_missing_file_goes_unseen(tmp_path):
    path = faults.put(tmp_path, 1, 1)
    for name in (checkpoint.STATE, checkpoint.MANIFEST):
        file = path / name
        data = file.read_bytes()
        for length in range(0, len(data), 3):
            file.write_bytes(data[:length])
            damaged(path)
        for start in range(0, len(data), 16):
            file.write_bytes(
                data[:start] + bytes(len(data[start : start + 16])) + data[start + 16 :]
            )
            damaged(path)
        file.write_bytes(data + b"\0")
        damaged(path)
        file.unlink()
        damaged(path)
        file.write_bytes(data)
    assert whole(checkpoint.load(path)) == 1


def test_a_file_of_the_wrong_size_is_not_even_read(tmp_path):
    path = faults.put(tmp_path, 1, 1)
    os.truncate(path / checkpoint.STATE, 2**40)
    with pytest.raises(StorageError, match=f"has {2**40} bytes instead of"):
        checkpoint.load(path)


def swap(one, two):
    for source, target in ((one, "x"), (two, one), ("x", two)):
        os.rename(one.parent / source, one.parent / target)


@pytest.mark.parametrize("values", [(1, 2), (1, 1)], ids=["different", "same arrays"])
def test_files_of_two_generations_do_not_mix(tmp_path, values):
    one, two = (faults.put(tmp_path, k, value) for k, value in zip((1, 2), values, strict=True))
    for name in (checkpoint.STATE, checkpoint.MANIFEST, ""):
        if name == checkpoint.STATE and values[0] == values[1]:
            continue
        swap(one / name, two / name)
        damaged(one)
        damaged(two)
        swap(one / name, two / name)
    assert whole(checkpoint.load(one)) == values[0]


def test_a_damaged_generation_is_passed_over_aloud(tmp_path):
    faults.put(tmp_path, 1, 1)
    newest = faults.put(tmp_path, 2, 2)
    os.truncate(newest / checkpoint.STATE, 10)
    said = []
    assert whole(checkpoint.newest(tmp_path, said.append)) == 1
    (message,) = said
    assert str(newest / checkpoint.STATE) in message
    assert "10 bytes instead of" in message
    assert "generation 1" in message


def test_if_no_generation_is_sound_the_run_does_not_start_afresh_unasked(tmp_path):
    for k in (1, 2):
        os.truncate(faults.put(tmp_path, k, k) / checkpoint.MANIFEST, k)
    with pytest.raises(StorageError, match=r"000000002(.|\n)*000000001(.|\n)*from a copy"):
        checkpoint.newest(tmp_path, no_warning)


def test_a_newer_format_is_not_taken_for_damage(tmp_path):
    faults.put(tmp_path, 1, 1)
    path = faults.put(tmp_path, 2, 2)
    manifest = json.loads((path / checkpoint.MANIFEST).read_text())
    del manifest["sha256"]
    (path / checkpoint.MANIFEST).write_bytes(seal({**manifest, "format": 2}, "sha256"))
    for read in (lambda: checkpoint.load(path), lambda: checkpoint.newest(tmp_path, no_warning)):
        with pytest.raises(StorageError, match=r"manifest.json(.|\n)*update soar-il"):
            read()


@pytest.mark.parametrize("change", [{"dtype": "float64"}, {"shape": [4, 3]}])
def test_dtypes_and_shapes_are_the_manifest_s(tmp_path, change):
    path = faults.put(tmp_path, 1, 1)
    manifest = json.loads((path / checkpoint.MANIFEST).read_text())
    del manifest["sha256"]
    manifest["arrays"]["a"].update(change)
    (path / checkpoint.MANIFEST).write_bytes(seal(manifest, "sha256"))
    damaged(path)
