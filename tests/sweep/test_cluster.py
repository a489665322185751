"""Jobs on a Ray cluster end as they do here, whatever machine is lost on the way."""

import importlib.util
import os
import shutil
import subprocess
import sys
import time

import pytest
import tiny
import toys
from test_sweep import experiment, finished, learning, outcome, sweep

from soar_il.errors import SoarError
from soar_il.runs.run import Run
from soar_il.sweep import cluster, parcel

CLUSTER = """
import sys
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
print(cluster.address, flush=True)
for line in sys.stdin:
    if line.strip() == "kill":
        cluster.remove_node(nodes.pop(), allow_graceful=False)
        print("killed", flush=True)
cluster.shutdown()
"""


def parcels(folder):
    """What is sent of a run that is stopped twice to look: after one checkpoint, and after two."""
    sent, made = {}, []
    with tiny.imitator(folder=folder) as imitator:
        for _ in range(2):
            imitator.learn(120)
            made.append(parcel.pack(folder, sent))
        return made, imitator.fingerprint()


def resumed(folder):
    run = Run.resume(folder, toys.PointMass, say=lambda text: None)
    try:
        return run.k, run.fingerprint()
    finally:
        run.close()


def test_a_directory_arrives_as_it_was_sent(tmp_path):
    (first, second), fingerprint = parcels(tmp_path / "here")
    assert not set(first.files) <= set(second.files)  # only what is new travels again
    parcel.unpack(tmp_path / "there", first)
    k, before = resumed(tmp_path / "there")
    parcel.unpack(tmp_path / "there", second)
    assert resumed(tmp_path / "there") == (resumed(tmp_path / "here")[0], fingerprint)
    assert resumed(tmp_path / "there")[0] > k
    assert before != fingerprint


def test_an_arrival_cut_short_can_still_be_resumed_from(tmp_path, monkeypatch):
    (first, second), fingerprint = parcels(tmp_path / "here")
    parcel.unpack(tmp_path / "there", first)
    before = resumed(tmp_path / "there")
    count = len(second.files)
    written = parcel.files.write_atomically
    for cut in range(0, count, 3):
        left = [cut]

        def write(path, data, left=left):
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            written(path, data)

        monkeypatch.setattr(parcel.files, "write_atomically", write)
        with pytest.raises(KeyboardInterrupt):
            parcel.unpack(tmp_path / "there", second)
        monkeypatch.setattr(parcel.files, "write_atomically", written)
        assert resumed(tmp_path / "there") == before
    parcel.unpack(tmp_path / "there", second)
    assert resumed(tmp_path / "there")[1] == fingerprint


def test_a_checkpoint_that_is_pruned_while_it_is_packed_is_no_obstacle(tmp_path, monkeypatch):
    """Its folder was listed, and is gone when it is looked into."""
    (old, new) = (tmp_path / "checkpoints" / name for name in ("000000001", "000000002"))
    for folder in (old, new):
        folder.mkdir(parents=True)
        (folder / "state").write_bytes(b"x")
    real = os.scandir

    def scandir(path):
        if str(path) == str(old):
            shutil.rmtree(old, ignore_errors=True)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert parcel.pack(tmp_path, {}).all == ("checkpoints/000000002/state",)
    assert not old.exists()


NEEDS_RAY = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed: soar-il[ray]"
)


def test_a_cluster_that_is_not_there_is_said_at_once():
    with pytest.raises(SoarError, match="no Ray cluster answers"):
        cluster._reachable("127.0.0.1:1")


@NEEDS_RAY
def test_a_cluster_that_loses_a_worker_gives_the_same_bits(tmp_path):
    tiny.demos().save(tmp_path / "points.demos")
    file, out = experiment(tmp_path, tmp_path / "points.demos"), tmp_path / "out"
    machines = subprocess.Popen(
        [sys.executable, "-c", CLUSTER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        address = machines.stdout.readline().strip()
        process = sweep(file, out, "--ray", address)
        while process.poll() is None and not any(out.glob("*/*/checkpoints/*")):
            time.sleep(0.05)
        assert process.poll() is None, process.communicate()[0]
        machines.stdin.write("kill\n")
        machines.stdin.flush()
        assert machines.stdout.readline().strip() == "killed"
        output = finished(process)
    finally:
        machines.communicate(timeout=120)
    assert output.count(": done, return") == 2
    assert output.count("started") + output.count("going on from") >= 3  # one of them twice
    assert learning(out)
    finished(sweep(file, tmp_path / "local"))
    assert outcome(out) == outcome(tmp_path / "local")
    assert not list(out.rglob("tmp-*"))
