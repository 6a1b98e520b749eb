"""``gjk3d clash --scheduler``: equal reports with a cluster, killed workers and error messages."""

import json
import os
import signal
import sys
from importlib import import_module
from pathlib import Path

import pytest
from message_checks import assert_names

from gjk3d.clash.formats import LineWriter

GEARBOX = Path(__file__).parents[3] / "data" / "gearbox.glb"


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("dask.distributed", reason='pip install "gjk3d[scale]" brings Dask')
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        yield cluster


def test_cluster_report_equals_local_report(run, cluster):
    local, remote = (
        run("clash", GEARBOX, "-f", "json", *more) for more in ((), ("--scheduler", cluster.scheduler_address))
    )
    assert (remote.code, remote.err) == (local.code, local.err)
    local_report, remote_report = json.loads(local.out), json.loads(remote.out)
    assert local_report.pop("elapsed") > 0.0
    assert remote_report.pop("elapsed") > 0.0
    assert local_report == remote_report


def test_killed_worker_loses_no_line(run, cluster, monkeypatch):
    local = run("clash", GEARBOX, "-f", "jsonl")
    workers, findings, write = [worker.pid for worker in cluster.workers.values()], [], LineWriter.clash

    def clash(self, finding):
        findings.append(finding)
        if len(findings) == 3:
            os.kill(workers[0], signal.SIGKILL)
        write(self, finding)

    monkeypatch.setattr(LineWriter, "clash", clash)
    remote = run("clash", GEARBOX, "-f", "jsonl", "-q", "--scheduler", cluster.scheduler_address)
    assert remote.code == local.code
    assert len(findings) > 40
    assert remote.out.splitlines()[:-1] == local.out.splitlines()[:-1]  # the last line contains the elapsed time


@pytest.mark.parametrize(
    ("address", "cause"),
    [
        ("http://127.0.0.1:1", "'http'"),
        ("here", "port"),
        ("tcp://127.0.0.1:9", "Timed out"),
    ],
)
def test_unreachable_scheduler_is_rejected(run, monkeypatch, address, cause):
    pytest.importorskip("dask.distributed", reason='pip install "gjk3d[scale]" brings Dask')
    monkeypatch.setattr(import_module("gjk3d.cli.clash"), "_WAIT", 0.5)
    result = run("clash", GEARBOX, "--scheduler", address)
    assert (result.code, result.out) == (2, "")
    assert_names(" ".join(result.err.split()), f"--scheduler {address!r}", cause, "`dask scheduler`")


def test_scheduler_without_workers_is_rejected(run):
    distributed = pytest.importorskip("dask.distributed", reason='pip install "gjk3d[scale]" brings Dask')
    with distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as empty:
        result = run("clash", GEARBOX, "--scheduler", empty.scheduler_address)
    assert result.code == 2
    assert f"dask worker {empty.scheduler_address}" in " ".join(result.err.split())


def test_missing_dask_prints_install_command(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    result = run("clash", GEARBOX, "--scheduler", "tcp://127.0.0.1:8786")
    assert result.code == 2
    assert 'pip install "gjk3d[scale]"' in result.err
