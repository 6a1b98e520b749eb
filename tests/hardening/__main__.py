"""``python -m tests.hardening``: check the laws on random and adversarial pairs, and verify a sample exactly."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from itertools import count as upwards
from pathlib import Path

from . import difficult_pairs
from .check import check
from .draw import Stack, draw
from .library_errors import Versus
from .other_libraries import Rivals
from .stacked import stacked
from .table import Tally
from .verification import judge


def _arguments(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.hardening", description=__doc__)
    parser.add_argument("--pairs", type=int, default=20_000, help="whole stacks, until there are that many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only", choices=difficult_pairs.NAMES, metavar="CLASS", help=f"one of: {', '.join(difficult_pairs.NAMES)}"
    )
    parser.add_argument("--first", type=int, default=0, metavar="STACK", help="where to start, to see one stack again")
    parser.add_argument(
        "--peers",
        type=int,
        nargs="?",
        const=1,
        default=0,
        metavar="N",
        help="ask coal and python-fcl, each Nth stack",
    )
    parser.add_argument("--stacked", type=int, metavar="N", help="instead, that many touching pairs of stacked boxes")
    parser.add_argument("--out", type=Path, help="the Markdown file; without it, standard output")
    return parser.parse_args(given)


def run(
    pairs: int, seed: int, first: int = 0, peers: int = 0, progress: bool = True, only: str | None = None
) -> tuple[Tally, Versus]:
    """Check at least ``pairs`` pairs in whole stacks, and return the results. Ctrl-C ends the run and keeps them."""
    versus = Versus()
    stacks = (draw(seed, number, only) for number in upwards(first))
    with Rivals() as rivals:
        return _run(pairs, stacks, peers, progress, rivals, versus), versus


def _run(pairs: int, stacks: Iterator[Stack], peers: int, progress: bool, rivals: Rivals, versus: Versus) -> Tally:
    tally, number, done, start, printed = Tally(), 0, 0, time.perf_counter(), 0.0
    try:
        while done < pairs:
            stack = next(stacks)
            number = stack.number
            result = check(stack, tally)
            if result is not None:
                judge(stack, result, tally)
                if peers and number // 2 % peers == 0:  # random and adversarial stacks alternate
                    rivals.compare(stack, result, versus)
            done += len(stack)
            spent = time.perf_counter() - start
            if progress and spent > printed + 5.0:
                printed, speed = spent, done / spent
                left = f"{speed:.0f} rows/s, {(pairs - done) / speed:.0f} s left"
                print(f"{spent:6.0f} s  {done} of {pairs}, stack {number}, {left}", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print(f"stopped at stack {number}", file=sys.stderr)
    return tally


def main(given: list[str] | None = None) -> int:
    """Run the command line; return 1 if anything is wrong."""
    arguments = _arguments(given)
    if arguments.stacked:
        result = stacked(arguments.stacked, arguments.seed)
        print(result)
        return int(result.exact > 0 or result.wrong > 0)
    start = time.perf_counter()
    tally, versus = run(arguments.pairs, arguments.seed, arguments.first, arguments.peers, only=arguments.only)
    total = tally.total()
    text = f"{total.pairs} pairs, seed {arguments.seed}, {time.perf_counter() - start:.0f} s.\n\n{tally.markdown()}"
    if arguments.peers:
        text += f"\n{versus.markdown()}"
    if arguments.out:
        arguments.out.write_text(text)
    else:
        print(text)
    return int(total.wrong)


if __name__ == "__main__":
    sys.exit(main())
