"""Measure each row in each setting, with all competitors in every round, and the scaling of workers by wall time."""

from __future__ import annotations

import importlib
import time
from dataclasses import dataclass, field

from . import gjk3d_competitor, timing
from .accuracy import Judgement, judge, reference
from .competitor import Competitor
from .counts import Counts, counts
from .scenes import DISTINCT, FLAT, make
from .timing import Plan, Task, Timing

PEERS = ("coal", "python-fcl", "mujoco", "pybullet", "distance3d")
_MODULES = {
    "coal": "coal_competitor",
    "python-fcl": "fcl_competitor",
    "mujoco": "mujoco_competitor",
    "pybullet": "pybullet_competitor",
    "distance3d": "distance3d_competitor",
}
#: rows that are also run with one and with two workers
WORKERS = ("box-box", "cylinder-cylinder", "hulls of 128", "hulls of 2048")


@dataclass
class Cell:
    """A row of a table: the times and the accuracy of all competitors."""

    row: str
    setting: str
    question: str
    timings: dict[str, Timing]
    judgements: dict[str, Judgement]
    verified: int
    counts: Counts | None = None


@dataclass
class Findings:
    """All results of a run."""

    cells: list[Cell] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)  #: reasons why a peer, or a row of a peer, is not measured
    workers: list[tuple[str, str, str, dict[str, Timing]]] = field(default_factory=list)


def load_peers(wanted: list[str], findings: Findings) -> list[type[Competitor]]:
    """Import the installed peers."""
    competitors: list[type[Competitor]] = []
    for name in wanted:
        try:
            module = importlib.import_module(f".{_MODULES[name]}", __package__)
        except ImportError as reason:
            findings.missing[name] = f"not installed ({reason})"
            continue
        competitors += module.COMPETITORS
    return competitors


def measure(
    row: str,
    setting: str,
    questions: list[str],
    peers: list[type[Competitor]],
    plan: Plan,
    findings: Findings,
    quick: bool = False,
) -> None:
    """Measure a row, and add its cells to the findings."""
    scene = make(row, setting, 512 if quick else DISTINCT, 8 if quick else None)
    truth = reference(scene)
    taking_part: list[Competitor] = []
    for kind in [*gjk3d_competitor.competitors(setting, row not in FLAT), *peers]:
        if setting not in kind.settings:
            continue
        try:
            taking_part.append(kind(scene))
        except Exception as reason:  # the table lists the rows that a peer cannot build
            if issubclass(kind, gjk3d_competitor.Gjk3d):
                raise
            findings.missing[f"{kind.name}, {row}"] = f"{type(reason).__name__}: {reason}"
    for question in questions:
        tasks: dict[str, Task] = {}
        judgements = {}
        for competitor in taking_part:
            run = competitor.loop(question)
            if run is None:
                continue
            try:
                judgements[competitor.name] = judge(competitor, question, run, truth)
            except Exception as reason:
                if isinstance(competitor, gjk3d_competitor.Gjk3d):
                    raise
                findings.missing[f"{competitor.name}, {row}, {question}"] = f"{type(reason).__name__}: {reason}"
                continue
            batch = isinstance(competitor, gjk3d_competitor.Gjk3d) and competitor.batch
            seconds = plan.batch_seconds if batch else plan.seconds
            most = competitor.most // scene.block * scene.block
            tasks[competitor.name] = Task(run, scene.block, most, seconds, competitor.clock)
        timings = timing.measure(tasks, plan)
        findings.cells.append(
            Cell(row, setting, question, timings, judgements, truth.verified, counts(scene, question))
        )


def measure_workers(
    row: str, setting: str, questions: list[str], plan: Plan, findings: Findings, quick: bool = False
) -> None:
    """Measure a row with one and with two workers by wall time, if its query takes workers."""
    if setting not in ("stack", "pairs") or row not in WORKERS or not gjk3d_competitor.takes_workers(setting):
        return
    own = gjk3d_competitor.Gjk3d(make(row, setting, 512 if quick else DISTINCT, 8 if quick else None))
    for question in questions:
        tasks = {}
        for count in (1, 2):
            run = own.loop(question, workers=count)
            assert run is not None
            tasks[str(count)] = Task(run, own.scene.block, own.most, 2.0 * plan.batch_seconds, time.perf_counter)
        findings.workers.append((row, setting, question, timing.measure(tasks, plan)))
