"""``python -m tests.benchmarks``: run all competitors interleaved, and write one Markdown file."""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

from . import run, startup
from .scenes import QUESTIONS, ROWS, SETTINGS
from .table import markdown
from .table_file import table_parser, write_table
from .timing import QUICK, Plan


def _arguments(given: list[str] | None) -> argparse.Namespace:
    parser = table_parser("tests.benchmarks", __doc__, None)
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=list(ROWS), metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--settings", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--questions", nargs="+", choices=QUESTIONS, default=list(QUESTIONS))
    parser.add_argument("--peers", nargs="*", choices=run.PEERS, default=list(run.PEERS))
    parser.add_argument("--quick", action="store_true", help="few rounds of few queries: to see that all works")
    parser.add_argument("--no-startup", action="store_true", help="leave importing and first calls out")
    parser.add_argument("--raw", type=Path, help="every round's microseconds as JSON")
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> int:
    """Run the benchmarks that the command line selects."""
    arguments = _arguments(given)
    warnings.simplefilter("ignore")  # the peers emit warnings about their own code
    plan = QUICK if arguments.quick else Plan()
    if arguments.rounds:
        plan = Plan(arguments.rounds, plan.seconds, plan.batch_seconds, plan.most_seconds)
    findings = run.Findings()
    peers = run.load_peers(arguments.peers, findings)
    start = time.perf_counter()
    for setting in arguments.settings:
        for row in arguments.rows:
            run.measure(row, setting, arguments.questions, peers, plan, findings, arguments.quick)
            run.measure_workers(row, setting, arguments.questions, plan, findings, arguments.quick)
            print(f"{time.perf_counter() - start:6.0f} s  {setting}, {row}", file=sys.stderr, flush=True)
    imports, first = None, None
    if not arguments.no_startup:
        imports, first = startup.imports(), startup.first_queries()
    write_table([markdown(findings, imports, first)], arguments.out)
    if arguments.raw:
        raw = [
            {
                "row": cell.row,
                "setting": cell.setting,
                "question": cell.question,
                "microseconds": {name: list(t.by_round.values()) for name, t in cell.timings.items()},
                "queries": {name: t.count for name, t in cell.timings.items()},
                "wrong": {name: j.wrong for name, j in cell.judgements.items()},
            }
            for cell in findings.cells
        ]
        arguments.raw.write_text(json.dumps(raw))
    return 0


if __name__ == "__main__":
    sys.exit(main())
