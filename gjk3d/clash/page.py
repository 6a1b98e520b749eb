"""Write the clash report as one HTML page: a table, and the assembly in 3D, offline."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from gjk3d import webpage
from gjk3d.clash.assembly import upward
from gjk3d.clash.causes import causes
from gjk3d.clash.drawn import MAX_TRIANGLES, Drawn, Frame, gather, placed
from gjk3d.clash.finding import KINDS
from gjk3d.clash.findings import readable
from gjk3d.clash.motion.play import played
from gjk3d.clash.packed import Packed, pack, places
from gjk3d.clash.parts import hex_of, order
from gjk3d.clash.report import Report
from gjk3d.clash.triage import Triage
from gjk3d.clash.wording import MEANING, facts, headline
from gjk3d.units import spellings
from gjk3d.webpage import to_base64, to_json
from gjk3d.wording import count

#: Findings that one page may list, the worst first.
MAX_ROWS = 100_000
#: Bytes of a page; parts whose triangles do not fit are drawn as boxes.
MAX_BYTES = 40_000_000
_SPARE = 2_000_000  #: bytes for the scripts and the rest
_PART, _PLACE = 92, 16  #: bytes at most of where a part, and a finding, is
_FILES = (
    "page.html", "page.css", "rows.js", "table.js", "decisions.js", "triage.js", "stage.js", "dots.js", "motion.js",
    "view.js", "tools.js", "tree.js", "page.js",
)  # fmt: skip


def write_page(report: Report, path: str | os.PathLike[str], *, token: str = "") -> Path:
    """Write the report as one self-contained page: findings in a table, and the parts in 3D.

    Nothing in the page reaches for the network, and its own policy forbids it. The 3D code (three.js) is taken from
    the installed trimesh. A page lists at most `MAX_ROWS` findings, the worst, and has at most `MAX_BYTES`: of the
    triangles it holds those that find room beside, the parts of the worst findings first, each shape once however
    many copies there are. It says what it leaves out. Findings and shapes are compressed, and are unpacked when they
    are looked at: that takes a browser of 2023 or later.

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
    files = {name: file for c in report.clashes[:MAX_ROWS] for name, file in ((c.a, c.a_file), (c.b, c.b_file)) if name}
    files |= {part.name: part.file for part in report.parts}
    names = {name: k for k, name in enumerate(sorted(files, key=order))}
    frame, factor = placed(report, names), report.reading[1]
    shown = readable(report)
    found = [cause for cause in report.causes or causes(report.clashes) if cause.part in names]
    packed = pack(shown, names, found, factor * frame.size, MAX_ROWS)
    scene = packed.index | _data(shown, names, files, frame)
    scene |= {"center": (factor * frame.center).tolist(), "size": factor * frame.size, "served": token}
    room = MAX_BYTES - _SPARE - _PART * len(names) - _PLACE * packed.count
    drawn = gather(report, names, frame, room - len(to_json(scene)) - sum(map(len, packed.blocks)))
    scene |= {"shapes": drawn.shapes, "chunks": [count for count, _ in drawn.chunks]}
    markup = {
        "tiles": "\n".join(_tile(shown, kind) for kind in KINDS),
        "notes": "\n".join(f'<p class="note">{html.escape(note)}</p>' for note in _notes(report, frame, drawn, packed)),
        "unchecked": _unchecked(report),
        "inputs": _inputs(report),
        "settings": _settings(report),
        "scene": to_json(scene),
    }
    at = places(report.clashes[: packed.count], names, frame)
    blocks = {"findings": "\n".join(packed.blocks), "shapes": drawn.block(frame, at)}
    text = {"title": headline(shown), "facts": facts(shown)}
    return webpage.write_page(
        path, "gjk3d.clash", _FILES, text=text, markup=markup, blocks=blocks, own_server=bool(token)
    )


def _tile(report: Report, kind: str) -> str:
    count = report.counts[kind]
    return (
        f'<button type="button" class="tile {kind}" data-kind="{kind}" aria-pressed="false" title="{MEANING[kind]}"'
        f"{'' if count else ' disabled'}><b>{count:,}</b> <span>{kind}</span></button>"
    )


def _notes(report: Report, frame: Frame, drawn: Drawn, packed: Packed) -> list[str]:
    notes = list(report.notes)
    if not report.complete:
        notes.insert(0, "This check was stopped before its end: pairs are missing here.")
    if report.total > packed.count:
        notes.append(f"The table has the worst {packed.count:,} of {report.total:,} findings.")
    has = drawn.which >= 0
    if drawn.left_out:
        notes.append(
            f"{drawn.left_out:,} of {drawn.left_out + int(has.sum()):,} parts are drawn as boxes:"
            f" with their triangles this page would have more than {MAX_BYTES / 1e6:g} MB."
        )
    elif np.isfinite(frame.boxes).any() and not has.any():
        notes.append("The parts are drawn as boxes: this report came without their triangles.")
    if late := int((has & ~drawn.seen).sum()):
        words = "1 part is a box until it is" if late == 1 else f"{late:,} parts are boxes until they are"
        notes.append(f"{words} chosen: of more than {MAX_TRIANGLES:,} triangles browsers get slow.")
    motion = report.motion
    if motion is not None and not motion.tracks:
        notes.append("The parts are shown as they were drawn: this report was made without how they move.")
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
    words = f"{count(len(parts), 'part', ',')} {'was' if len(parts) == 1 else 'were'} not checked"
    state = " open" if len(parts) <= 3 else ""
    return f'<details id="unchecked" class="note"{state}><summary>{words}</summary>\n<ul>{items}</ul></details>'


def _inputs(report: Report) -> str:
    return "\n".join(
        f"<li><bdi>{html.escape(item.path)}</bdi> <small>{html.escape(item.unit or 'no unit stated')}"
        f"{f', sha256 {html.escape(item.sha256)}' if item.sha256 else ''}</small></li>"
        for item in report.inputs
    )


def _settings(report: Report) -> str:
    """Return what was set; of what was not, as of a choice of parts or rules, there is nothing to say."""
    return "\n".join(
        f"<tr><th>{html.escape(str(key).replace('_', ' '))}</th><td>"
        f"{html.escape(value if isinstance(value, str) else json.dumps(value, default=str))}</td></tr>"
        for key, value in report.settings.items()
        if value not in (None, [], "")
    )


def _data(report: Report, names: Mapping[str, int], files: Mapping[str, str], frame: Frame) -> dict[str, Any]:
    """Return what the scripts read of the parts, in the order of their names, and of the whole."""
    triangles = {part.name: part.triangles for part in report.parts}
    colour = {part.name: hex_of(part.colour) for part in report.parts if part.colour is not None}
    colours = {text: k for k, text in enumerate(dict.fromkeys(colour.values()))}
    sources = {file: k for k, file in enumerate(dict.fromkeys(files.values()))}
    moves = report.motion is not None and report.motion.tracks
    return {
        "unit": report.unit or "",
        "metres": spellings(),
        "up": upward(report),
        "names": list(names),
        "files": list(sources),
        "file": to_base64([sources[files[name]] for name in names], "<i4"),
        "colours": list(colours),
        "colour": to_base64([colours[colour[name]] if name in colour else -1 for name in names], "<i4"),
        "triangles": to_base64([triangles.get(name, 0) for name in names], "<f8"),
        "motion": played(report, frame.center, frame.size, names) if moves else None,
        "meaning": MEANING,
        "triage": (report.triage or Triage()).to_dict()["issues"],
        "stem": PurePath(report.inputs[0].path).stem if report.inputs else "report",  # of the file of decisions
    }
