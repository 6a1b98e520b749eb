"""Streaming of findings: all are passed to the callback, and only a limited number is kept."""

import gc
import io
import itertools
import json
import signal
import threading

import numpy as np
import pytest

import gjk3d as gk
from gjk3d.clash import Assembly, Clash, check, formats
from gjk3d.clash.detection.decider import Decider
from gjk3d.errors import ParseError, ShapeError
from gjk3d.scale import unbroken
from tests.clash import messages
from tests.clash.reports import cube


@pytest.fixture(scope="module")
def lattice():
    """Return cubes on a lattice that overlap their neighbours, and a duplicate of one cube."""
    places = np.stack(np.meshgrid(*[np.arange(3.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    parts = {f"cube {k}": cube(1.9 * place) for k, place in enumerate(places)}
    return Assembly.of(parts | {"twin": cube(1.9 * places[0])}, "mm")


def named(assembly):
    """Return the assembly with new meshes named as their parts, without any cached data."""
    meshes = {part.name: gk.Mesh(part.mesh.vertices, part.mesh.faces, name=part.name) for part in assembly.parts}
    return Assembly.of(meshes, assembly.unit)


@pytest.mark.parametrize("keep", [0, 1, 7, 10_000])
def test_worst_findings_are_kept_and_all_are_counted(lattice, keep):
    complete = check(lattice)
    streamed = []
    report = check(lattice, keep=keep, found=streamed.append, workers=2)
    assert len(streamed) == report.total == complete.total == len(complete.clashes) > 150
    assert (report.counts, report.statuses) == (complete.counts, complete.statuses)
    assert report.counts["duplicate"] == 1
    assert [clash.id for clash in report.clashes] == [clash.id for clash in complete.clashes[:keep]]
    assert [clash.severity for clash in report.clashes] == list(range(1, len(report.clashes) + 1))
    listed = sum(sum(kinds.values()) for kinds in report.left_out.values())
    assert listed == max(0, complete.total - keep)


@pytest.mark.full
def test_streamed_findings_are_freed(lattice):
    counter, alive = itertools.count(1), []

    def count(clash):
        if next(counter) % 16 == 0:  # scanning all objects is slow
            gc.collect()
            alive.append(sum(type(item) is Clash for item in gc.get_objects()))

    total = check(lattice, keep=0, found=count).total
    assert total == next(counter) - 1 > 150
    assert max(alive) - min(alive) < 64


def test_lines_do_not_depend_on_keep(lattice):
    written = []
    for keep in (None, 0):
        stream = io.StringIO()
        writer = formats.LineWriter(stream)
        writer.close(check(lattice, keep=keep, found=writer.clash))
        lines = [json.loads(line) for line in stream.getvalue().splitlines()]
        assert lines[-1].pop("elapsed") > 0.0
        written.append(lines)
    assert written[0] == written[1]


def test_baseline_is_compared_with_all_findings(lattice):
    before = check(lattice, a="cube 1")
    assert 0 < len(before.clashes) < 20
    moved = Assembly.of({part.name: part.mesh for part in lattice.parts if part.name != "cube 0"}, "mm")
    streamed = []
    after = check(moved, baseline=before, keep=0, found=streamed.append)
    assert after.statuses == {
        "new": len(streamed) - len(before.clashes) + 1,
        "active": len(before.clashes) - 1,
        "resolved": 1,
        "ignored": 0,
    }
    assert [(clash.status, clash.a) for clash in after.clashes] == [("resolved", "cube 0")]


def test_truncated_report_as_baseline_raises(lattice, tmp_path):
    some = check(lattice, keep=3)
    some.to_json(tmp_path / "some.json")
    for baseline in (some, tmp_path / "some.json"):
        with pytest.raises(ParseError, match=r"worst findings.*keep=None"):
            check(lattice, baseline=baseline)


def test_negative_keep_raises(lattice):
    with pytest.raises(ShapeError, match=r"keep.*-1"):
        check(lattice, keep=-1)


def test_formats_report_omitted_findings(lattice, tmp_path):
    some = check(lattice, keep=5)
    more = some.total - 5
    assert f"... and {more} more." in formats.to_markdown(some)
    page = some.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert messages.WORST_IN_TABLE.format(5, some.total) in page
    assert json.loads(some.to_json())["left_out"] == {"new": {"duplicate": 1, "hard": more - 1}}


def test_ctrl_c_in_callback_takes_effect_after_it(lattice):
    written = []

    def write(clash):
        if len(written) == 3:
            signal.raise_signal(signal.SIGINT)
        written.append(clash)

    report = check(lattice, found=write)
    assert not report.complete
    assert {clash.id for clash in report.clashes} == {clash.id for clash in written}
    assert len(written) == 4


def test_ctrl_c_keeps_decided_findings_with_and_without_callback(lattice, monkeypatch):
    from gjk3d.clash.detection.pairs import Twins

    def decided(twins, *more):
        seen.append(more)
        decide(twins, *more)
        if len(seen) == most:
            signal.raise_signal(signal.SIGINT)

    decide, most = Twins.decided, 3
    monkeypatch.setattr(Twins, "decided", decided)
    seen, streamed = [], []
    listened = check(lattice, found=streamed.append)
    seen = []
    quiet = check(lattice)  # without a callback, findings are created together at the end
    assert not quiet.complete
    assert 0 < len(streamed) == quiet.total
    assert [clash.id for clash in quiet.clashes] == [clash.id for clash in listened.clashes]
    assert quiet.pairs_tested == listened.pairs_tested < quiet.pairs_total


def test_second_ctrl_c_interrupts_a_hanging_call():
    reached = []

    @unbroken()
    def hang():
        signal.raise_signal(signal.SIGINT)
        reached.append(1)
        signal.raise_signal(signal.SIGINT)
        reached.append(2)

    with pytest.raises(KeyboardInterrupt):
        hang()
    assert reached == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ignored_ctrl_c_stays_ignored(lattice):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        report = check(lattice, found=lambda clash: signal.raise_signal(signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, before)
    assert report.complete


def test_ctrl_c_keeps_report_of_worker_threads(lattice):
    streamed = []

    def stop(clash):
        streamed.append(clash)
        if len(streamed) == 9:
            signal.raise_signal(signal.SIGINT)

    report = check(lattice, workers=2, found=stop)
    assert not report.complete
    assert sorted(clash.id for clash in report.clashes) == sorted(clash.id for clash in streamed)
    assert len(streamed) == 9
    assert 9 <= report.pairs_tested < report.pairs_total
    assert gk.clash.check(lattice).complete


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_does_not_wait_for_current_pair(lattice, workers, monkeypatch):
    decide, streamed, go_on, ended = Decider.decide, [], threading.Event(), []

    def hanging(self, a, b, *others):
        if (a.name, b.name) == ("cube 0", "cube 3"):
            signal.raise_signal(signal.SIGINT)
            ended.append(go_on.wait(60))
        return decide(self, a, b, *others)

    monkeypatch.setattr(Decider, "decide", hanging)
    report = check(named(lattice), workers=workers, found=streamed.append)
    assert not ended
    go_on.set()
    assert not report.complete
    assert 0 < report.total == len(streamed) < 150


def test_interrupted_check_computes_no_more_hulls(lattice, monkeypatch):
    hull, hulls = gk.Mesh.hull, []

    def counted(mesh):
        hulls.append(mesh.name)
        return hull(mesh)

    def stop(clash):
        counts.append(len(set(hulls)))
        signal.raise_signal(signal.SIGINT)

    counts = []
    monkeypatch.setattr(gk.Mesh, "hull", counted)
    report = check(named(lattice), found=stop)
    assert counts[0] < 10 < len(lattice.parts)
    assert len(set(hulls)) == counts[-1]
    assert {part.convex for part in report.parts} == {True, None}


def test_order_of_findings_does_not_depend_on_workers(lattice):
    orders = []
    for workers in (1, 2, 5):
        streamed = []
        check(lattice, workers=workers, found=streamed.append)
        orders.append(streamed)
    assert orders[0] == orders[1] == orders[2]
    assert len(orders[0]) > 150


def test_ctrl_c_during_grouping_loses_nothing(lattice, monkeypatch):
    from gjk3d.clash.detection import run

    def grouped(*arguments):
        signal.raise_signal(signal.SIGINT)
        return regroup(*arguments)

    regroup = run.grouped
    monkeypatch.setattr(run, "grouped", grouped)
    report = check(lattice)
    assert not report.complete
    assert report.pairs_tested == report.pairs_total
    assert report.total > 150


def test_ctrl_c_takes_precedence_over_resulting_errors():
    def load():
        signal.raise_signal(signal.SIGINT)
        raise OSError("the child was stopped")

    with pytest.raises(KeyboardInterrupt):
        unbroken()(load)()
    with pytest.raises(ZeroDivisionError):
        unbroken()(lambda: 1 / 0)()


def test_ctrl_c_survives_catch_all_handlers(lattice, monkeypatch):
    """Some packages catch all exceptions, for example when they try optional imports."""
    from gjk3d.clash.detection import run

    boxes = run.boxes_close

    def swallowing(*arguments):
        try:
            signal.raise_signal(signal.SIGINT)
        except BaseException:
            pytest.fail("it comes in between only")
        return boxes(*arguments)

    monkeypatch.setattr(run, "boxes_close", swallowing)
    report = check(lattice)
    assert (report.complete, report.pairs_tested < report.pairs_total) == (False, True)
