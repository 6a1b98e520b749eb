"""Write data/golden/bodies/*.json: meshes that once went wrong, or that people ask about, with closed forms.

Run as ``python data/make_golden_bodies.py``. The parts are those of tests/bodies/assembled_parts.py. The answers follow
from how they are made, as each case says.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from math import cos, pi
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from scipy.spatial.transform import Rotation

HERE = Path(__file__).parent
PARTS = HERE / "golden" / "bodies" / "parts"
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "tests"), str(HERE.parent / "tests" / "bodies")]

import assembled_parts  # noqa: E402
from make_golden import hexed  # noqa: E402
from random_shapes import at  # noqa: E402

import gjk3d as gk  # noqa: E402

Case = tuple[str, str, Any, Any, Any, str, tuple[float, float], str]
ROUNDED = 1e-12  #: of coordinates of up to 60


def near(value: float) -> tuple[float, float]:
    """Return an interval about a closed form of coordinates that are rounded."""
    return value - ROUNDED, value + ROUNDED


def bolts() -> Iterator[Case]:
    """Bolts of radius 5 off centre in holes of 5.2, both polygons of 64 corners, one of which leads."""
    ask = "people mean the way to the middle of the hole, and were told of that along the axis"
    why = "the shank fits where its middle is within a polygon of 64 corners at 0.2, whose nearest corner is so far"
    for off in (0.3, 1.0, 4.0):
        for name, part in (("pin", assembled_parts.pin()), ("bolt-with-its-head-on-the-plate", assembled_parts.bolt())):
            length = near(off - 0.2)
            yield (
                f"{name}-{off:g}-off-its-hole",
                ask,
                assembled_parts.plate(),
                part,
                at(off, 0, 0),
                "signed_distance",
                length,
                why,
            )


def others() -> Iterator[Case]:
    """Press fit, shaft, gears, rings, and a cube in a corner."""
    plate, pin = assembled_parts.plate(5.0), assembled_parts.pin(5.027)
    yield (
        "pin-pressed-into-its-hole", "the bound from above stood at 0.5, since halves of slim triangles stick out",
        plate, pin, at(0, 0, 0), "penetration", near(5.027 - 5.0),
        "each corner of the pin's polygon is that far beyond a corner of the hole's",
    )  # fmt: skip
    yield (
        "way-out-of-a-pressed-pin", "nothing but the axis leads out, 600 times as long as the pin is too thick",
        plate, pin, at(0, 0, 0), "signed_distance", near(16.0),
        "while both overlap in height, up to a move of 16, the pin is in the hole, which is smaller, or 25 aside",
    )  # fmt: skip
    wall, shaft = (
        gk.Mesh(*gk.Box((60, 60, 3)).surface()),
        assembled_parts.turned([(0, -20), (4, -20), (4, 20), (0, 20)]),
    )
    for query, value, by in (
        ("signed_distance", 21.5, "half of the shaft and half of the wall; sideways it is 33 and more"),
        ("penetration", 4.0 * cos(pi / 64), "the axis, on the wall's face, is that far from the shaft's sides"),
    ):
        yield (
            f"shaft-through-a-wall-{query.replace('_', '-')}", "hulls and centres say nothing of what passes through",
            wall, shaft, at(1, 2, 0), query, near(value), by,
        )  # fmt: skip
    mesh = at(19.95, 0, 0, rotation=Rotation.from_euler("z", pi / 20))
    tip = 11 * cos(0.12 * pi / 10) + 9 * cos(0.25 * pi / 10) - 19.95
    for query in ("signed_distance", "penetration"):
        yield (
            f"gears-in-mesh-{query.replace('_', '-')}", "the hulls of gears in mesh are two teeth deep",
            assembled_parts.gear(), assembled_parts.gear(), mesh, query, near(tip),
            "the tip of a tooth, a chord of radius 11, lies on the bottom between two, a chord of radius 9",
        )  # fmt: skip
    _, _, _, pose = next(assembled_parts.linked())
    one = other = assembled_parts.ring(n=16, k=8)
    yield (
        "rings-linked-and-apart", "they cannot be taken apart, and yet nothing is in the way",
        one, other, pose, "penetration", (0.0, 0.0), "each tube is 2 thick and passes through the other's hole of 8",
    )  # fmt: skip
    yield corner()


def corner() -> Case:
    """Return a cube flush with both faces of a corner, whose side face touches it from within at an edge."""
    outline = np.array([(-1.0, -1.0), (2.0, -1.0), (2.0, 0.0), (0.0, 0.0), (0.0, 1.5), (-1.0, 1.5)])
    ends = [np.column_stack([outline[:, 0], np.full(6, y), outline[:, 1]]) for y in (-1.0, 1.0)]
    cap = np.array([(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)])
    low, high = np.arange(12).reshape(2, 6)
    sides = [(low, high, np.roll(high, -1)), (low, np.roll(high, -1), np.roll(low, -1))]
    faces = np.vstack([cap, cap[:, ::-1] + 6, *(np.column_stack(side) for side in sides)])
    size = (0.8, 2.0, 0.8)
    frame = at(0.6, 0.7, -0.2, rotation=Rotation.from_euler("y", 1.3))
    pose = frame @ at(0.5 * size[0], 1.0 - 0.5 * size[1], 0.5 * size[2])
    return (
        "cube-flush-in-a-corner", "where a face touched the cube from within at an edge, the contact was as deep as the"
        " cube is wide", placed(np.vstack(ends), faces, frame), gk.Mesh(*gk.Box(size).surface()), pose,
        "contact", (-1e-12, 1e-12), "both faces are flush",
    )  # fmt: skip


def placed(vertices: Any, faces: Any, pose: Any) -> Any:
    """Return a mesh at a pose, its vertices rounded there."""
    return gk.Mesh(vertices @ pose[:3, :3].T + pose[:3, 3], faces)


def written(mesh: Any) -> dict[str, Any]:
    """Return a mesh as the cases have it: by the name of a file, which many share, after its content."""
    part = {"shape": "Mesh", "vertices": mesh.vertices.tolist(), "faces": mesh.faces.tolist()}
    text = json.dumps(hexed(part)) + "\n"
    name = f"{crc32(text.encode()):08x}"
    PARTS.mkdir(exist_ok=True)
    (PARTS / f"{name}.json").write_text(text)
    return {"part": name}


def main() -> None:
    """Write one file a case."""
    for name, why, a, b, pose, query, (low, high), by in [*bolts(), *others()]:
        if query == "signed_distance":
            low, high = -high, -low
        case = {
            "schema_version": 1, "name": name, "why": why, "source": "found while gjk3d 0.1 was tested", "unit": None,
            "a": written(a), "b": written(b), "pose_a": None, "pose_b": pose.tolist(), "query": query,
            "expected": {"lower": low, "upper": high}, "by": f"closed form: {by}",
        }  # fmt: skip
        (HERE / "golden" / "bodies" / f"{name}.json").write_text(json.dumps(hexed(case)) + "\n")
        print(f"{name}: {query} [{low!r}, {high!r}]")


if __name__ == "__main__":
    main()
