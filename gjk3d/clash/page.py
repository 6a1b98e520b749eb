"""Write the clash report as one HTML page: a table, and the assembly in 3D, offline."""

from __future__ import annotations

import html
import json
import math
import os
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gjk3d import webpage
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.topology import merged_places
from gjk3d.clash.assembly import upward
from gjk3d.clash.causes import causes
from gjk3d.clash.findings import readable
from gjk3d.clash.motion.play import played
from gjk3d.clash.report import KINDS, Clash, Report
from gjk3d.clash.triage import Triage
from gjk3d.clash.wording import MEANING, brief, decided, depth, distance, facts, headline, inside, way_out, when
from gjk3d.typing import Array
from gjk3d.webpage import to_base64, to_json
from gjk3d.wording import above, with_unit

#: Bytes of triangles that one page may hold; as text they take a third more, and browsers get slow beyond.
MAX_BYTES = 48_000_000


@dataclass(frozen=True)
class Drawn:
    """What a page draws.

    Attributes
    ----------
    center, size : (3,) float, float
        A point p of the assembly is at ``(p - center) / size`` in the page.
    positions, indices : str
        float32 and uint32, little-endian, in base64.
    ranges : dict of str to (first vertex, vertices, first index, indices)
        By the name of the part.
    boxes : dict of str to (lowest, highest corner)
        Of every part that has bounds.
    left_out : int
        Parts that have triangles, which are not here for their number.
    """

    center: Array
    size: float
    positions: str
    indices: str
    ranges: dict[str, tuple[int, int, int, int]]
    boxes: dict[str, tuple[list[float], list[float]]]
    left_out: int


def gather(report: Report) -> Drawn:
    """Collect the triangles of the parts, those of the worst findings first where there are too many."""
    boxes = {part.name: np.array(part.bounds) for part in report.parts if part.bounds is not None}
    meshes = _meshes(report)
    for name, mesh in meshes.items():
        boxes.setdefault(name, np.array([mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)]))
    boxes = {name: box for name, box in boxes.items() if np.isfinite(box).all()}
    corners = np.concatenate([*boxes.values(), np.zeros((0, 3))])
    low, high = (corners.min(axis=0), corners.max(axis=0)) if len(corners) else (np.zeros(3), np.ones(3))
    center = 0.5 * low + 0.5 * high
    size = float(np.linalg.norm(0.5 * high - 0.5 * low)) or 1.0

    points, triangles, ranges = [], [], {}
    vertices = indices = 0
    for name in _order(report, meshes):
        if name not in boxes:
            continue
        place, faces = _lean(meshes[name])
        if 12 * (vertices + len(place)) + 4 * (indices + faces.size) > MAX_BYTES:
            continue  # a smaller one may still go in
        points.append((place - center) / size)
        triangles.append(faces + vertices)
        ranges[name] = (vertices, len(place), indices, int(faces.size))
        vertices += len(place)
        indices += int(faces.size)
    return Drawn(
        center=center,
        size=size,
        positions=to_base64(np.concatenate([*points, np.zeros((0, 3))]), "<f4"),
        indices=to_base64(np.concatenate([*triangles, np.zeros((0, 3), dtype=np.int64)]), "<u4"),
        ranges=ranges,
        boxes={name: tuple(((box - center) / size).tolist()) for name, box in boxes.items()},
        left_out=len(meshes) - len(ranges),
    )


def _meshes(report: Report) -> dict[str, Mesh]:
    parts = report.assembly.parts if report.assembly is not None else ()
    return {part.name: mesh for part in parts if (mesh := part.mesh) is not None and len(mesh.vertices)}


def _order(report: Report, meshes: dict[str, Mesh]) -> list[str]:
    """Return the parts with findings, the worst first, then the others, the smallest first."""
    found = dict.fromkeys(name for clash in report.clashes for name in (clash.a, clash.b) if name in meshes)
    rest = [name for name in meshes if name not in found]
    return [*found, *sorted(rest, key=lambda name: len(meshes[name].faces))]


def _lean(mesh: Mesh) -> tuple[Array, NDArray[np.int64]]:
    """Return vertices and faces, each place once if the file gave every triangle corners of its own."""
    points: Any = mesh.vertices
    faces: Any = mesh.faces
    if len(points) <= len(faces):
        return points, faces
    places = merged_places(points)
    merged = np.empty((int(places.max()) + 1, 3))
    merged[places] = points
    return merged, places[faces]


#: Findings that one page may list, the worst first.
MAX_ROWS = 50_000
_FILES = (
    "page.html", "page.css", "table.js", "triage.js", "stage.js", "motion.js", "view.js", "tools.js", "page.js",
)  # fmt: skip


def write_page(report: Report, path: str | os.PathLike[str], *, token: str = "") -> Path:
    """Write the report as one self-contained page: findings in a table, and the parts in 3D.

    Nothing in the page reaches for the network, and its own policy forbids it. The 3D code (three.js) is taken from
    the installed trimesh. A page holds at most `MAX_ROWS` findings and `MAX_BYTES` of triangles, those of the worst
    findings first; it says what it leaves out.

    Parameters
    ----------
    report : Report
        What a clash check found, with its ``assembly`` if the parts shall be seen.
    path : path
        Where to write.
    token : str, optional
        Of `gjk3d serve`: the page sends what is decided to the server that it comes from, with this.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gk.clash.page.write_page(gk.clash.Report(), pathlib.Path(folder) / "report.html").name
    'report.html'
    """
    drawn = gather(report)
    factor = report.reading[1]
    report = readable(report)
    markup = {
        "tiles": "\n".join(_tile(report, kind) for kind in KINDS),
        "notes": "\n".join(f'<p class="note">{html.escape(note)}</p>' for note in _notes(report, drawn)),
        "unchecked": _unchecked(report),
        "inputs": _inputs(report),
        "settings": _settings(report),
        "scene": to_json(_data(report, drawn, factor) | {"stem": _stem(report), "served": token}),
    }
    blocks = {"positions": drawn.positions, "indices": drawn.indices}
    text = {"title": headline(report), "facts": facts(report)}
    return webpage.write_page(
        path, "gjk3d.clash", _FILES, text=text, markup=markup, blocks=blocks, own_server=bool(token)
    )


def _stem(report: Report) -> str:
    """Return what a file of decisions is called after: the first file that was checked."""
    return PurePath(report.inputs[0].path).stem if report.inputs else "report"


def _tile(report: Report, kind: str) -> str:
    count = report.counts[kind]
    return (
        f'<button type="button" class="tile {kind}" data-kind="{kind}" aria-pressed="false" title="{MEANING[kind]}"'
        f"{'' if count else ' disabled'}><b>{count:,}</b> <span>{kind}</span></button>"
    )


def _notes(report: Report, drawn: Drawn) -> list[str]:
    notes = list(report.notes)
    if not report.complete:
        notes.insert(0, "This check was stopped before its end: pairs are missing here.")
    if report.total > min(MAX_ROWS, len(report.clashes)):
        notes.append(f"The table has the worst {min(MAX_ROWS, len(report.clashes)):,} of {report.total:,} findings.")
    if drawn.left_out:
        notes.append(
            f"{drawn.left_out:,} of {drawn.left_out + len(drawn.ranges):,} parts are drawn as boxes:"
            f" with their triangles this page would hold more than {MAX_BYTES / 1e6:g} MB of them."
        )
    elif drawn.boxes and not drawn.ranges:
        notes.append("The parts are drawn as boxes: this report came without their triangles.")
    return notes


def _unchecked(report: Report) -> str:
    parts = report.unchecked
    if not parts:
        return ""
    items = "\n".join(
        f"<li><bdi>{html.escape(part.name)}</bdi>: {html.escape(part.reason)}"
        f"{f' <small>{html.escape(part.file)}</small>' if part.file and part.file != part.name else ''}</li>"
        for part in parts
    )
    words = "1 part was not checked" if len(parts) == 1 else f"{len(parts):,} parts were not checked"
    state = " open" if len(parts) <= 3 else ""
    return f'<details id="unchecked" class="note"{state}><summary>{words}</summary>\n<ul>{items}</ul></details>'


def _inputs(report: Report) -> str:
    return "\n".join(
        f"<li><bdi>{html.escape(item.path)}</bdi> <small>{html.escape(item.unit or 'no unit stated')}"
        f"{f', sha256 {html.escape(item.sha256)}' if item.sha256 else ''}</small></li>"
        for item in report.inputs
    )


def _settings(report: Report) -> str:
    return "\n".join(
        f"<tr><th>{html.escape(str(key))}</th><td>"
        f"{html.escape(value if isinstance(value, str) else json.dumps(value, default=str))}</td></tr>"
        for key, value in report.settings.items()
    )


def _data(report: Report, drawn: Drawn, factor: float) -> dict[str, Any]:
    """Return what the scripts read: names and sentences once, findings as rows that point to them."""
    names: dict[str, int] = {part.name: i for i, part in enumerate(report.parts)}
    origins = {part.name: part.file for part in report.parts}
    sentences: dict[str, int] = {}
    courses = {(pair.a, pair.b): k for k, pair in enumerate(report.motion.pairs)} if report.motion is not None else {}
    found = [cause for cause in report.causes or causes(report.clashes) if cause.part in names]
    cause_of = {ident: k for k, cause in enumerate(found) for ident in cause.ids}
    rows = []
    for clash in report.clashes[:MAX_ROWS]:
        for name, file in ((clash.a, clash.a_file), (clash.b, clash.b_file)):
            if name:  # a part that could not be checked has no other
                names.setdefault(name, len(names))
                origins.setdefault(name, file)
        sentence = sentences.setdefault(decided(clash), len(sentences))
        row = _row(clash, names, sentence, report.unit)
        if report.motion is not None:
            row["course"] = courses.get((clash.a, clash.b), -1)
            row["told"] |= {"when": when(clash, report)} if clash.time is not None else {}
        if clash.id in cause_of:
            row["cause"] = cause_of[clash.id]
        rows.append(row)
    counts = {part.name: part.triangles for part in report.parts}
    return {
        "unit": report.unit or "",
        "up": upward(report),
        "center": (factor * drawn.center).tolist(),
        "size": factor * drawn.size,
        "parts": [
            {
                "name": name,
                "file": origins[name],
                "triangles": counts.get(name, 0),
                "box": drawn.boxes.get(name),
                "range": drawn.ranges.get(name),
            }
            for name in names
        ],
        "motion": played(report, drawn.center, drawn.size, names) if report.motion and report.motion.tracks else None,
        "decided": list(sentences),
        "meaning": MEANING,
        "causes": [[names[cause.part], len(cause.ids)] for cause in found],
        "triage": (report.triage or Triage()).to_dict()["issues"],
        "rows": rows,
    }


def _row(clash: Clash, names: dict[str, int], sentence: int, unit: str | None) -> dict[str, Any]:
    """Return the fields that are not empty."""
    record = {key: value for key, value in clash.to_dict().items() if value is not None and value != ""}
    for key in ("a_file", "b_file", "shape_a", "shape_b"):
        record.pop(key, None)
    for key in ("mtv", "normal", "point_a", "point_b", "point", "overlap_box"):
        if key in record and not _finite(record[key]):
            del record[key]
    return {
        **record,
        "evidence": clash.evidence,
        "a": names.get(clash.a, -1),
        "b": names.get(clash.b, -1),
        "decided": sentence,
        "told": {label: text for label, text in _told(clash, unit).items() if text},
    }


def _told(clash: Clash, unit: str | None) -> dict[str, str]:
    """Return the numbers that have bounds as the page writes them: its scripts round none of these."""
    way = way_out(clash, unit=unit) if clash.depth else ""
    error = "" if clash.error_bound is None else with_unit(above(clash.error_bound, 2), unit)
    return {
        "brief": brief(clash, 5),
        "inside": inside(clash, 5),
        "distance": distance(clash, unit=unit) + (", negative is overlap" if (clash.distance or 0.0) < 0.0 else ""),
        "depth": depth(clash, unit=unit),
        "way": way,
        "error": error,
    }


def _finite(value: Any) -> bool:
    if isinstance(value, list):
        return all(_finite(item) for item in value)
    return value is not None and math.isfinite(value)
