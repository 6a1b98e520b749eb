"""``gjk3d robot pairs URDF``: which pairs of links need no check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gjk3d.cli.arguments import check_output
from gjk3d.cli.robot.options import (
    MODEL,
    OUTPUT,
    SCHEMA_VERSION,
    Document,
    Model,
    Output,
    at_least,
    new_table,
    pair_words,
)
from gjk3d.cli.terminal import Bar, note, print_table, safe, say, say_more, write_json

if TYPE_CHECKING:
    from gjk3d.robot import Robot


def pairs(
    urdf: Path,
    /,
    *,
    acm: Path | None = None,
    samples: int = 10_000,
    seed: int = 0,
    top: int = 20,
    model: Model = MODEL,
    output: Output = OUTPUT,
) -> int:
    """Find the pairs of links that need no check, to be written as an SRDF.

    Links that share a joint, that always collide, or that never do; of the last, as many as can be are proven.

    Parameters
    ----------
    urdf
        The robot.
    acm
        Where to write them: an .srdf file, with the poses and all else of --srdf.
    samples
        How many configurations are tried, drawn evenly within the limits.
    seed
        Of the random numbers.
    top
        Most rows of the table.
    """
    at_least(samples=samples, seed=seed, top=top)
    check_output(acm, "--acm", (".srdf", ".xml"), model.files(urdf))
    robot = model.read(urdf)
    from gjk3d.robot import allow_by_sampling

    with Bar(show=not output.quiet) as bar:
        bar("sampling")
        robot.allowed = allow_by_sampling(robot, samples, seed=seed)
    if acm is not None:
        robot.to_srdf(acm)
    if output.json:
        write_json(_document(robot, acm))
    else:
        _print(robot, top)
    if acm is not None and not output.quiet:
        note(acm, "wrote")
    return 0


def _document(robot: Robot, target: Path | None) -> Document:
    from gjk3d.clash.report import versions

    proven = set(robot.allowed.proven)
    return {
        "schema_version": SCHEMA_VERSION,
        "command": "robot",
        "robot": {"name": robot.name, "path": str(robot.source)},
        "srdf": None if target is None else str(target),
        "counts": robot.allowed.counts(),
        "checked": len(robot.pairs),
        "allowed": [{**each._asdict(), "proven": tuple(each[:2]) in proven} for each in robot.allowed],
        "evidence": robot.allowed.evidence,
        "versions": versions(),
    }


def _print(robot: Robot, top: int) -> None:
    allowed, proven = robot.allowed, set(robot.allowed.proven)
    counts = ", ".join(f"{count} {reason}" for reason, count in allowed.counts().items()) or "none"
    say(f"{safe(robot.name)}: {len(allowed)} pairs of links need no check ({counts}), {len(robot.pairs)} do")
    say()
    table = new_table("pair", "reason")
    for each in list(allowed)[:top]:
        reason = f"{each.reason}, proven" if tuple(each[:2]) in proven else safe(each.reason)
        table.add(pair_words(each[:2]), reason)
    print_table(table)
    say_more(len(allowed), top)
    say()
    say(allowed.evidence)
