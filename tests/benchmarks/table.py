"""The findings as Markdown: times, spread, accuracy, ratios to the fastest correct peer, and slower rows."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

from .accuracy import MANY, SAMPLE, SIGN, VERIFIED, WRONG
from .competitor import KERNEL
from .counts import COUNTED
from .gjk3d_competitor import Gjk3dLoose
from .run import PEERS, Cell, Findings
from .scenes import FLAT, HULLS, QUESTIONS, SETTINGS
from .timing import ratio

#: heading of the column with the work of a query of gjk3d at full accuracy
COUNTS = "supports / GJK / EPA"
_PACKAGES = ("gjk3d", "numpy", "numba", *PEERS)


def anchor(cell: Cell) -> str | None:
    """Return the fastest correct peer, to which ratios are computed."""
    right = [
        name
        for name, judgement in cell.judgements.items()
        if not name.startswith("gjk3d") and name != KERNEL and judgement.right
    ]
    return min(right, key=lambda name: cell.timings[name].median, default=None)


def gain(cell: Cell, ours: str, other: str | None) -> tuple[float, float, float] | None:
    """Return the quartiles of the ratio of the times of a competitor and of a variant of gjk3d."""
    if other not in cell.timings or ours not in cell.timings:
        return None
    return ratio(cell.timings[other], cell.timings[ours])


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 99.5 else f"{value:.1f}" if value >= 9.95 else f"{value:.2f}"


def _share(value: float) -> str:
    return "<1 %" if 0 < value < 0.01 else f"{100 * value:.0f} %"


def _time(cell: Cell, name: str) -> str:
    if name not in cell.timings:
        return ""
    low, middle, high = cell.timings[name].quartiles
    text = f"{_digits(middle)} ±{50 * (high - low) / middle:.0f}%"
    judgement = cell.judgements[name]
    return text if judgement.right else f"~~{text}~~ {_share(judgement.wrong)} wrong"


def _gain(cell: Cell, name: str, other: str | None) -> str:
    quartiles = gain(cell, name, other)
    if quartiles is None:
        return ""
    low, middle, high = quartiles
    text = f"{_digits(middle)}x ({_digits(low)}–{_digits(high)})"
    return text if middle >= 1.0 else f"**{text}**"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _setting(cells: list[Cell]) -> list[str]:
    names = list(dict.fromkeys(name for cell in cells for name in cell.timings))
    # order of first occurrence, with the variants of gjk3d first
    names.sort(key=lambda name: not name.startswith("gjk3d"))
    ours = ["gjk3d", *([Gjk3dLoose.name] if Gjk3dLoose.name in names else [])]
    gains = ["ratio", *(["ratio at 1e-6"] if len(ours) > 1 else [])]
    if KERNEL in names:
        gains += [f"{text} to {KERNEL}" for text in gains]
    heads = ["pair", "query", *names, "fastest correct library", *gains]
    counted = any(cell.counts is not None for cell in cells)
    if counted:
        heads.insert(2, COUNTS)
    lines = [_row(heads), _row(["---"] * len(heads))]
    last = ""
    for cell in cells:
        best = anchor(cell)
        ratios = [_gain(cell, name, other) for other in (best, *([KERNEL] if KERNEL in names else [])) for name in ours]
        row = cell.row if cell.row != last else ""
        steps = [str(cell.counts or "")] if counted else []
        lines.append(_row([row, cell.question, *steps, *(_time(cell, n) for n in names), best or "none", *ratios]))
        last = cell.row
    return lines


def _growth(cells: list[Cell]) -> list[str]:
    """Return the ratios of the times of queries of the largest and the smallest hulls, if both were run."""
    small, large = (f"hulls of {n}" for n in (HULLS[0], HULLS[-1]))
    timings = {(c.row, c.question): c.timings for c in cells if c.row in (small, large)}
    questions = [q for q in QUESTIONS if (small, q) in timings and (large, q) in timings]
    if not questions:
        return []
    names = [
        name
        for name in timings[small, questions[0]]
        if all((large, q) in timings and name in timings[large, q] for q in questions)
    ]
    lines = [f"Time of a query of {large} vertices, in queries of {small}:", "", _row(["query", *names])]
    lines.append(_row(["---"] * (1 + len(names))))
    for q in questions:
        lines.append(_row([q, *(f"{timings[large, q][n].median / timings[small, q][n].median:.1f}" for n in names)]))
    return [*lines, ""]


def _accuracy(cells: list[Cell]) -> list[str]:
    names = list(dict.fromkeys(name for cell in cells for name in cell.judgements))
    names = [name for name in names if not name.startswith("gjk3d") and name != KERNEL]
    lines = [_row(["pair", "query", *names]), _row(["---"] * (2 + len(names)))]
    for row in dict.fromkeys(cell.row for cell in cells):
        for question in dict.fromkeys(cell.question for cell in cells):
            texts = []
            for name in names:
                judgements = [
                    c.judgements[name] for c in cells if (c.row, c.question) == (row, question) and name in c.judgements
                ]
                if not judgements:
                    texts.append("")
                    continue
                parts = [f"{_share(max(j.wrong for j in judgements))} wrong"]
                if question != "boolean":
                    parts.append(f"worst {max(j.worst for j in judgements):.0e}")
                points = [j.points for j in judgements if j.points is not None]
                if points and max(points) > 0:
                    parts.append(f"points {_share(max(points))} off")
                texts.append(", ".join(parts))
            lines.append(_row([row if question == cells[0].question else "", question, *texts]))
    return lines


def summary(cells: list[Cell]) -> list[str]:
    """Return a row for each pair: the ratio of gjk3d to the fastest correct peer, by setting and query."""
    settings = [setting for setting in SETTINGS if any(cell.setting == setting for cell in cells)]
    lines = [_row(["pair", *(SETTINGS[setting].lower() for setting in settings)]), _row(["---"] * (1 + len(settings)))]
    for row in dict.fromkeys(cell.row for cell in cells):
        texts = []
        for setting in settings:
            ratios = []
            for question in QUESTIONS:
                matching = [c for c in cells if (c.row, c.setting, c.question) == (row, setting, question)]
                gains = [gain(c, name, anchor(c)) for c in matching for name in ("gjk3d", Gjk3dLoose.name)]
                best = max((g[1] for g in gains if g is not None), default=None)
                ratios.append("–" if best is None else _digits(best) if best >= 1.0 else f"**{_digits(best)}**")
            texts.append(" / ".join(ratios))
        lines.append(_row([row, *texts]))
    return lines


def behind(cells: list[Cell]) -> list[str]:
    """Return the rows in which gjk3d, at the accuracy of the peers, is slower than the fastest correct peer."""
    lines = []
    for cell in cells:
        peer = anchor(cell)
        gains = [g for g in (gain(cell, name, peer) for name in ("gjk3d", Gjk3dLoose.name)) if g is not None]
        if gains and max(g[1] for g in gains) < 1.0:
            best = max(g[1] for g in gains)
            lines.append(f"- {SETTINGS[cell.setting].lower()}, {cell.row}, {cell.question}: {_digits(best)}x of {peer}")
    return lines


def _versions() -> str:
    versions = []
    for name in _PACKAGES:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(versions)


def markdown(
    findings: Findings,
    imports: dict[str, float] | None = None,
    first: dict[str, tuple[float, float]] | None = None,
) -> str:
    """Return the findings as Markdown."""
    cells = findings.cells
    lines = [
        "# gjk3d and other libraries",
        "",
        f"The versions are {_versions()} and Python {platform.python_version()}, on {platform.system()} "
        f"{platform.machine()} with {os.cpu_count()} cores.",
        "",
        "- Times are microseconds of CPU time for one query: the median of interleaved rounds ± half the interquartile "
        "range.",
        "- Ratios are computed within rounds, with their quartiles.",
        "- Half of the pairs overlap.",
        "- Objects, poses, requests and results are created before the measurement and used again. The other libraries "
        "take their own pose objects. gjk3d takes 4x4 arrays and checks them in every query.",
        "- The other libraries loop in Python over up to 4096 of the 100 000 queries.",
        f"- The column {COUNTS} has means for a cold query of gjk3d, counted on {COUNTED} rows: support points of both "
        "shapes, steps of GJK, and steps of EPA. All are 0 for a closed form.",
        f"- A result is wrong if its error exceeds {WRONG:g} of the pair's size (the reach of A plus the reach of B), "
        f"or if its sign is wrong farther than {SIGN:g} from touching. The reference is gjk3d's certified interval, "
        f"for up to {SAMPLE} queries of each row.",
        f"- A library that is wrong in more than {_share(MANY)} of a row is struck out, and is not used for ratios.",
        f"- {VERIFIED} intervals of each row were verified in rational arithmetic: "
        f"{sum(c.verified for c in cells)} of {VERIFIED * len(cells)} proven.",
        "",
    ]
    if cells:
        lines += [
            "## Summary",
            "",
            "The table shows how many times gjk3d is faster than the fastest library with correct results: boolean / "
            "distance / depth. Curved pairs are compared at the accuracy of the other libraries. A number is bold if "
            "gjk3d is slower.",
            "",
            *summary(cells),
            "",
        ]
    for setting, title in SETTINGS.items():
        chosen = [cell for cell in cells if cell.setting == setting]
        if chosen:
            lines += [f"## {title}", "", *_setting(chosen), ""]
            counts = sorted({c.timings["gjk3d"].count for c in chosen})
            lines += [f"gjk3d computed {counts[0]} to {counts[-1]} queries in each repetition.", ""]
            lines += _growth(chosen)
    if cells:
        lines += ["## Slower rows", "", *(behind(cells) or ["None."]), ""]
        lines += ["[Limits](limits.md) has profiles, lower limits of the times, and failed attempts.", ""]
        lines += ["## Accuracy", "", *_accuracy(cells), ""]
        curved = sorted({c.row for c in cells} - set(FLAT))
        lines += ["Curved rows: " + (", ".join(curved) or "none") + ".", ""]
    if findings.workers:
        lines += [
            "## Two workers, wall time",
            "",
            _row(["setting", "pair", "query", "1 worker", "2 workers", "ratio"]),
        ]
        lines += [_row(["---"] * 6)]
        for row, setting, question, timings in findings.workers:
            low, middle, high = ratio(timings["1"], timings["2"])
            lines.append(
                _row(
                    [
                        SETTINGS[setting].lower(),
                        row,
                        question,
                        *(_digits(timings[n].median) for n in ("1", "2")),
                        f"{middle:.2f}x ({low:.2f}–{high:.2f})",
                    ]
                )
            )
        lines.append("")
    if imports:
        lines += ["## Import times", "", _row(list(imports)), _row(["---"] * len(imports))]
        lines += [_row([f"{seconds:.2f} s" for seconds in imports.values()]), ""]
    if first:
        lines += ["## Time to the first result, with the import", ""]
        lines += [_row(["", "nothing compiled", "compiled code cached"]), _row(["---"] * 3)]
        lines += [_row([name, f"{cold:.2f} s", f"{cached:.2f} s"]) for name, (cold, cached) in first.items()] + [""]
    if findings.missing:
        lines += [
            "## Not measured",
            "",
            *(f"- {name}: {' '.join(why.split())}" for name, why in findings.missing.items()),
            "",
        ]
    return "\n".join(lines)
