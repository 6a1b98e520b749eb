"""``gjk3d replay FILE``, which repeats a recorded query and compares the results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from gjk3d.cli import ExitCode
from gjk3d.cli.terminal import print_labelled, print_line, safe, write_json

if TYPE_CHECKING:
    from gjk3d.replay import Replay
    from gjk3d.results import Distance

SCHEMA_VERSION = 1
_SHOWN = 20  #: the largest number of rows of a stack whose results are printed
_HEADLINES = {
    "SAME": ("SAME", "to the last bit", "bold green"),
    "AGREES": ("DIFFERENT", "in the last bits, but the bounds of both results overlap", "bold yellow"),
    "CONTRADICTS": ("CONTRADICTION", "the bounds of both results are disjoint, so one result is wrong", "bold red"),
}


def replay(
    file: Path,
    /,
    *,
    verify: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Repeat a query that result.to_json() has saved, and compare the new result with the saved one.

    The exit code is 0 if the result is the same to the last bit. It is 1 if the result is different, or if --verify
    refutes the new result.

    Parameters
    ----------
    file
        A document of result.to_json() with the shapes, the poses, the settings, the versions and the result.
    verify
        Verify both results in rational arithmetic, one pair of shapes at a time. This is slow for curved shapes.
    json
        Print a JSON document.
    """
    import gjk3d as gk

    replayed = gk.replay.run(file)
    # the different rows of a stack, the worst first
    rows = [int(row) for row in (-replayed.rows).argsort(kind="stable") if replayed.rows[row]]
    verdicts = _verdicts(replayed) if verify else []
    rows = (rows or ([] if len(replayed.now.normal.shape) == 2 else [0]))[:_SHOWN]
    if json:
        write_json(_document(file, replayed, rows, verdicts))
    else:
        _print(file, replayed, rows, verdicts)
    refuted = any(now.refuted for _, now in verdicts)
    return ExitCode(bool(replayed.sameness) or refuted)


def _row(result: Distance, row: int) -> Distance:
    return result if result.normal.ndim == 1 else result[row]


def _verdicts(replayed: Replay) -> list[tuple[Any, Any]]:
    import gjk3d as gk

    def judge(result: Distance) -> Any:
        return gk.verify(result, result.shape_a, result.shape_b, result.pose_a, result.pose_b)

    return [
        (judge(_row(replayed.case.answer, row)), judge(_row(replayed.now, row))) for row in range(len(replayed.rows))
    ]


def _document(file: Path, replayed: Replay, rows: list[int], verdicts: list[tuple[Any, Any]]) -> dict[str, Any]:
    from gjk3d.replay import Sameness, versions

    counts = {kind.name.lower(): int((replayed.rows == kind).sum()) for kind in Sameness}
    shown = [
        {
            "row": row,
            "sameness": Sameness(int(replayed.rows[row])).name.lower(),
            "then": _row(replayed.case.answer, row).to_dict(),
            "now": _row(replayed.now, row).to_dict(),
        }
        for row in rows
    ]
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "command": "replay",
        "path": str(file),
        "sameness": replayed.sameness.name.lower(),
        "rows": counts,
        "answers": shown,
        "versions": {"then": replayed.case.versions, "now": versions()},
    }
    if verdicts:
        document["verdicts"] = [
            {"row": row, **{when: _verdict(v) for when, v in zip(("then", "now"), pair, strict=True)}}
            for row, pair in enumerate(verdicts)
        ]
    return document


def _verdict(verdict: Any) -> dict[str, Any]:
    errors = {"witness_error": verdict.witness_error, "normal_error": verdict.normal_error}
    return {"proven": verdict.proven, "refuted": verdict.refuted, "reasons": list(verdict.reasons), **errors}


def _print(file: Path, replayed: Replay, rows: list[int], verdicts: list[tuple[Any, Any]]) -> None:
    from gjk3d.replay import Sameness, versions

    case = replayed.case
    word, why, style = _HEADLINES[replayed.sameness.name]
    print_line((word, style), f" {why}")
    settings = ", ".join(f"{name}={value!r}" for name, value in case.arguments.items())
    question = f"{case.query} of a {type(case.a).__name__} and a {type(case.b).__name__}, {settings}"
    lines = [("file", safe(file.name)), ("query", question)]
    stacked = replayed.now.normal.ndim == 2
    if stacked:
        counts = ", ".join(f"{int((replayed.rows == kind).sum())} {kind.name.lower()}" for kind in Sameness)
        lines.append(("rows", f"{len(replayed.rows)}: {counts}"))
    total = len(replayed.rows)
    for row in rows:
        for when, result in (("then", case.answer), ("now", replayed.now)):
            lines += _answer(f"row {row + 1} of {total}, {when}" if stacked else when, _row(result, row))
    current = versions()
    for when, have in (("versions then", case.versions), ("versions now", {} if current == case.versions else current)):
        text = ", ".join(f"{safe(name)} {safe(what)}" for name, what in have.items())
        lines.append((when, text or "the same"))
    for row, pair in enumerate(verdicts):
        for when, verdict in zip(("then", "now"), pair, strict=True):
            what = "proven" if verdict.proven else "refuted" if verdict.refuted else "not proven"
            if not (stacked and verdict.proven):
                label = f"row {row + 1} of {total}, {when}" if stacked else f"verified {when}"
                lines.append((label, "; ".join(filter(None, (what, *verdict.reasons, verdict.tolerances)))))
    if stacked and verdicts:
        proven = sum(then.proven for then, _ in verdicts), sum(now.proven for _, now in verdicts)
        lines.append(("verified", f"{proven[0]} of {len(verdicts)} proven then, {proven[1]} now"))
    print_labelled(lines)


def _answer(label: str, result: Distance) -> list[tuple[str, str]]:
    return [
        (label, f"{result.status.name.lower()}, {float(result.distance)!r}"),
        ("", f"bounds [{float(result.lower)!r}, {float(result.upper)!r}]"),
        ("", f"normal {_exact(result.normal)}"),
        ("", f"points {_exact(result.point_a)} on A, {_exact(result.point_b)} on B"),
    ]


def _exact(values: Any) -> str:
    return f"({', '.join(repr(float(value)) for value in values)})"
