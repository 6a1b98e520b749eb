"""``gjk3d clash --scheduler``: the report of one process, also where a worker is killed; errors that name the cure."""

import json
import os
import signal
import sys
from importlib import import_module
from pathlib import Path

import pytest
from words import assert_names

from gjk3d.clash.formats import LineWriter

GEARBOX = Path(__file__).parents[3] / "data" / "gearbox.glb"


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("dask.distributed", reason='pip install "gjk3d[scale]" brings Dask')
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        yield cluster


def test_a_cluster_says_what_one_process_says(run, cluster):
    here, there = (
        run("clash", GEARBOX, "-f", "json", *more) for more in ((), ("--scheduler", cluster.scheduler_address))
    )
    assert (there.code, there.err) == (here.code, here.err)
    one, other = json.loads(here.out), json.loads(there.out)
    assert one.pop("elapsed") > 0.0
    assert other.pop("elapsed") > 0.0
    assert one == other


def test_a_worker_that_is_killed_loses_no_line(run, cluster, monkeypatch):
    here = run("clash", GEARBOX, "-f", "jsonl")
    workers, told, write = [worker.pid for worker in cluster.workers.values()], [], LineWriter.clash

    def clash(self, found):
        told.append(found)
        if len(told) == 3:
            os.kill(workers[0], signal.SIGKILL)
        write(self, found)

    monkeypatch.setattr(LineWriter, "clash", clash)
    there = run("clash", GEARBOX, "-f", "jsonl", "-q", "--scheduler", cluster.scheduler_address)
    assert there.code == here.code
    assert len(told) > 40
    assert there.out.splitlines()[:-1] == here.out.splitlines()[:-1]  # the last line says how long it took


@pytest.mark.parametrize(
    ("address", "cause"),
    [
        ("http://127.0.0.1:1", "'http'"),
        ("here", "port"),
        ("tcp://127.0.0.1:9", "Timed out"),
    ],
)
def test_an_address_at_which_no_scheduler_answers_is_refused(run, monkeypatch, address, cause):
    pytest.importorskip("dask.distributed", reason='pip install "gjk3d[scale]" brings Dask')
    monkeypatch.setattr(import_module("gjk3d.cli.clash"), "_WAIT", 0.5)
    said = run("clash", GEARBOX, "--scheduler", address)
    assert (said.code, said.out) == (2, "")
    assert_names(" ".join(said.err.split()), f"--scheduler {address!r}", cause, "`dask scheduler`")


def test_a_scheduler_without_workers_is_told(run):
    distributed = pytest.importorskip("dask.distributed", reason='pip install "gjk3d[scale]" brings Dask')
    with distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as empty:
        said = run("clash", GEARBOX, "--scheduler", empty.scheduler_address)
    assert said.code == 2
    assert f"dask worker {empty.scheduler_address}" in " ".join(said.err.split())


def test_where_dask_is_not_installed_the_line_to_install_it_is_told(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    said = run("clash", GEARBOX, "--scheduler", "tcp://127.0.0.1:8786")
    assert said.code == 2
    assert 'pip install "gjk3d[scale]"' in said.err
