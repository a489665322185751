"""Processes that die, and disks that fail, at the n-th thing done to the disk.

As a program, ``faults.py SCENARIO ROOT [power]`` makes ROOT/1, ROOT/2, ...: what a scenario leaves
when it is killed at its first, second, ... call. With ``power`` what was not yet synced is lost.
It forks rather than start Python anew for each call, which is why it imports no jax.
"""

import builtins
import errno
import itertools
import os
import shutil
import signal
import sys
from pathlib import Path

import numpy as np

from soar_il import files
from soar_il.runs import checkpoint, log, segments

CALLS = ("fsync", "rename", "replace", "mkdir", "unlink", "rmdir")


class Faults:
    """Calls ``fault`` in place of the ``at``-th call; a write stops half-way."""

    def __init__(self, at, fault, kinds=("write", *CALLS)):
        self.left, self.fault, self.kinds = at, fault, kinds
        self.unsynced, self.trace = {}, []

    def due(self, kind, *what):
        self.trace.append((kind, *what))
        self.left -= kind in self.kinds
        return self.left == 0 and kind in self.kinds

    def install(self, setattr_):
        open_, fsync_ = builtins.open, os.fsync

        def fsync(fd):
            inode = os.fstat(fd).st_ino
            if self.due("fsync", inode):
                self.fault()
            fsync_(fd)
            self.unsynced.pop(inode, None)

        def call(name, real):
            def called(*args, **options):
                if self.due(name, *args):
                    self.fault()
                return real(*args, **options)

            return called

        def opened(path, mode="r", *args, **options):
            file = open_(path, mode, *args, **options)
            return file if "r" in mode else Written(file, self)

        for name in CALLS:
            setattr_(os, name, call(name, getattr(os, name)))
        setattr_(os, "fsync", fsync)
        setattr_(builtins, "open", opened)


class Written:
    def __init__(self, file, faults):
        self.file, self.faults = file, faults

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()

    def write(self, data):
        inode = os.fstat(self.file.fileno()).st_ino
        if inode not in self.faults.unsynced:
            self.faults.unsynced[inode] = os.dup(self.file.fileno())
        if self.faults.due("write", inode):
            self.file.write(data[: len(data) // 2])
            self.file.flush()
            self.faults.fault()
        return self.file.write(data)


def no_space():
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def state(value):
    """Arrays and meta of which every part says ``value``."""
    arrays = {"a": np.full((3, 4), value, np.float32), "b": np.full(5, value, np.int32)}
    return arrays, {"value": value, "segments": [[f"{value:09d}.safetensors", f"{value:064x}"]]}


def put(folder, k, value):
    return checkpoint.save(folder, k, *state(value))


def both(folder):
    """What a kill leaves between putting a new generation 2 in place and removing the old one."""
    put(folder, 1, 1)
    shutil.copytree(put(folder, 2, 2), folder / "000000002.old")


def records(count):
    return [{"k": k, "loss": 1 / (k + 1)} for k in range(count)]


def logged(path, count):
    with log.Log(path) as lines:
        for record in records(count):
            lines.append(record)


def atomic(folder):
    files.write_atomically(folder / "file", b"new" * 50)


def segment(folder):
    segments.write(folder, 7, state(7)[0])


# What is there before, and what is interrupted.
SCENARIOS = {
    "first": (lambda f: None, lambda f: put(f, 1, 10)),
    "next": (lambda f: (put(f, 1, 1), put(f, 2, 2)), lambda f: put(f, 3, 10)),
    "again": (lambda f: (put(f, 1, 1), put(f, 2, 2)), lambda f: put(f, 2, 10)),
    "only": (lambda f: put(f, 2, 2), lambda f: put(f, 2, 10)),
    "both": (both, lambda f: put(f, 2, 10)),
    "back": (lambda f: (put(f, 1, 1), put(f, 4, 2)), lambda f: put(f, 3, 10)),
    "atomic": (lambda f: (f / "file").write_bytes(b"old"), atomic),
    "segment": (lambda f: None, segment),
    "cut": (lambda f: logged(f / "log", 9), lambda f: log.cut(f / "log", 4)),
}


def main(scenario, root, power=""):
    before, interrupted = SCENARIOS[scenario]
    for n in itertools.count(1):
        folder = Path(root) / str(n)
        folder.mkdir()
        before(folder)
        child = os.fork()
        if not child:
            die(n, interrupted, folder, power)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            return os.WEXITSTATUS(status)


def die(n, interrupted, folder, power):
    def kill():
        for descriptor in faults.unsynced.values() if power else ():
            os.ftruncate(descriptor, 0)
        os.kill(os.getpid(), signal.SIGKILL)

    faults = Faults(n, kill)
    faults.install(setattr)
    try:
        interrupted(folder)
        os._exit(0)
    finally:
        os._exit(1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
