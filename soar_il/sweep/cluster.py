"""The same jobs on a Ray cluster; their directories come back here as they grow.

The cluster's machines need soar-il and no shared disk. A job whose machine is lost goes on
elsewhere from the last checkpoint that came back.
"""

import dataclasses
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from soar_il import files, provenance
from soar_il.errors import ConfigError, StorageError
from soar_il.files import Fields
from soar_il.runs import lock
from soar_il.sweep import folder
from soar_il.sweep.grid import Job
from soar_il.sweep.local import SOAR, TRIES, Screen
from soar_il.sweep.parcel import Parcel, pack, unpack

SEND = 1.0  # seconds between looks at what is new


class Sent(NamedTuple):
    """A job that is out, and what is held here for it."""

    job: Job
    held: ExitStack
    began: float
    since: int


def run(
    jobs: Sequence[Job], out: Path, address: str, workers: int, screen: Screen
) -> dict[str, str]:
    """Every job that is not done; what went wrong, by name. "" starts a cluster on this machine."""
    ray = connect(address, workers)
    task = ray.remote(num_cpus=1, max_retries=0, num_returns="streaming")(work)
    problems: dict[str, str] = {}
    deaths: dict[str, tuple[int, int]] = {}
    running: dict[Any, Sent] = {}
    try:
        for job in jobs:
            if folder.state(out / job.name, job) == "done":
                continue
            sent = _hold(job, out)
            if sent is None:
                problems[job.name] = "another process works on it"
                continue
            running[_submit(task, sent, out)] = sent
        while running:
            ready, _ = ray.wait(list(running), num_returns=1, timeout=SEND, fetch_local=False)
            for stream in ready:
                problem = _receive(ray, stream, running[stream], out, deaths, screen)
                if problem is _MORE:
                    continue
                sent = running.pop(stream)
                if problem is _AGAIN:
                    running[_submit(task, sent, out)] = sent
                    continue
                sent.held.close()
                if problem:
                    problems[sent.job.name] = problem
                    folder.fail(out / sent.job.name, problem)
                screen.ended(sent.job, problem)
            screen.look()
    finally:
        for sent in running.values():
            sent.held.close()
        ray.shutdown()
    return problems


_MORE, _AGAIN = "more", "again"


def connect(address: str, workers: int) -> Any:
    try:
        import ray
    except ImportError:
        raise ConfigError("Ray is not installed", do="pip install 'soar-il[ray]'") from None
    if address:
        _reachable(address)
    try:
        if address:
            ray.init(address=address, log_to_driver=False)
        else:
            ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    except (ConnectionError, RuntimeError) as error:
        do = "give the address of a running cluster, or none to start one here"
        raise ConfigError(f"no Ray cluster answers ({error})", address, do) from None
    return ray


def _reachable(address: str) -> None:
    """Ray itself would try for many minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdigit():  # "auto": Ray looks on this machine
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError as error:
        do = "give the address of a running cluster, or none to start one here"
        raise ConfigError(f"no Ray cluster answers ({error})", address, do) from None


def _hold(job: Job, out: Path) -> Sent | None:
    place, held = out / job.name, ExitStack()
    files.make_dir(place)
    try:
        held.enter_context(lock.held(place))
    except StorageError:
        return None
    return Sent(job, held, time.monotonic(), folder.reached(place).steps)


def _submit(task: Any, sent: Sent, out: Path) -> Any:
    place, given = out / sent.job.name, sent.job.options.get("demos")
    (place / folder.FAILED).unlink(missing_ok=True)
    if (place / "config.json").exists() and not (place / "plan.json").exists():
        begun = Parcel({}, ())  # killed before its first step
    else:
        begun = pack(place, {})
    demos = _demos(Path(str(given))) if given is not None else None
    return task.remote(sent.job, begun._asdict(), demos, provenance.about()["versions"])


def _receive(
    ray: Any, stream: Any, sent: Sent, out: Path, deaths: dict[str, tuple[int, int]], screen: Screen
) -> str:
    """Put in place what came; "" when the job is done, _MORE, _AGAIN, or the problem."""
    place = out / sent.job.name
    try:
        kind, content = ray.get(next(stream))
    except StopIteration:
        return "it ended without a word"
    except ray.exceptions.RayTaskError as error:
        return str(error.cause)
    except ray.exceptions.RayError as error:
        at = folder.reached(place).steps
        times, before = deaths.get(sent.job.name, (0, -1))
        deaths[sent.job.name] = (times + 1 if at <= before else 1, max(at, before))
        if deaths[sent.job.name][0] < TRIES:
            return _AGAIN
        return f"its machine was lost {TRIES} times at step {at:,} ({type(error).__name__})"
    if kind == "started":
        screen.started(sent.job)
        return _MORE
    if kind == "files":
        unpack(place, Parcel(**content))
        return _MORE
    if content == 0:
        folder.finish(place, time.monotonic() - sent.began, sent.since)
        return ""
    said = (place / "output.txt").read_text(errors="replace").strip().splitlines()
    return "\n".join(said[-4:]) or f"exit code {content}"


def work(
    job: Job, begun: Fields, demos: Any, versions: dict[str, str]
) -> Iterator[tuple[str, Any]]:
    """On a machine of the cluster: run the job's command, and send what it writes."""
    here = provenance.about()["versions"]
    if here != versions:
        other = [f"{name} {here[name]}, not {v}" for name, v in versions.items() if here[name] != v]
        raise ConfigError(f"a machine of the cluster has {'; '.join(other)}", do="install the same")
    yield "started", None
    with tempfile.TemporaryDirectory(prefix="soar-il-") as scratch:
        place, options = Path(scratch) / "run", dict(job.options)
        place.mkdir()
        unpack(place, Parcel(**begun))
        sent: dict[str, tuple[int, int]] = {}
        pack(place, sent)
        if demos is not None:
            unpack(Path(scratch) / "given", Parcel(demos[1], tuple(demos[1])))
            options["demos"] = str(Path(scratch) / "given" / demos[0])
        job = dataclasses.replace(job, options=options)
        command = [*SOAR, *folder.arguments(place, job)]
        place.mkdir(exist_ok=True)
        child = [sys.executable, "-m", "soar_il.sweep.child", str(os.getpid()), "-1", *command]
        with (place / "output.txt").open("ab") as output:
            process = subprocess.Popen(
                child, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
        try:
            while process.poll() is None:
                time.sleep(SEND)
                parcel = pack(place, sent)
                if parcel.files:
                    yield "files", parcel._asdict()
        finally:
            process.terminate()
            process.wait()
        yield "files", pack(place, sent)._asdict()
        yield "ended", process.returncode


def _demos(path: Path) -> tuple[str, dict[str, bytes]]:
    """A .demos folder or a file, by name and content."""
    if path.is_dir():
        return path.name, {f"{path.name}/{p.name}": p.read_bytes() for p in path.iterdir()}
    return path.name, {path.name: path.read_bytes()}
