"""Handmade reports for tests of pages and file formats."""

import numpy as np

import gjk3d as gk
from gjk3d.clash.detection.assembly import Assembly
from gjk3d.clash.detection.clashes import KINDS, Clash, clash_id
from gjk3d.clash.detection.parts import AssemblyPart
from gjk3d.clash.report import Input, PartRow, Report

#: Names that a careless page would interpret as HTML.
EVIL = "<script>alert(1)</script>"
ENDING = '</script></noscript><img src=x onerror="alert(2)">@data@\u202e\x00&amp;'
#: The name as a page shows it: characters that hide or reverse text are replaced by their code points.
SHOWN_ENDING = ENDING.replace("\u202e", "\\u202e").replace("\x00", "\\u0000")


def cube(at=(0.0, 0.0, 0.0), size=2.0):
    vertices, faces = gk.Box((size, size, size)).surface()
    return gk.Mesh(vertices + np.asarray(at, dtype=float), faces)


def part_row(name, mesh, file="press.glb", reason=""):
    bounds = tuple(map(tuple, np.array([mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)]).tolist()))
    return PartRow(name, file, len(mesh.faces), True, True, bounds, reason)


def finding(kind, a, b, severity=1, **more):
    values = {
        "id": clash_id(kind, a, b),
        "status": "new",
        "a_file": "press.glb",
        "b_file": "press.glb",
        "shape_a": "triangles",
        "shape_b": "triangles",
        "method": "triangles",
        "distance_kind": "exact",
    }
    return Clash(kind=kind, severity=severity, a=a, b=b, **(values | more))


def three_cubes(names=("frame", "press/ram", "press/pin"), **more):
    """Return a report of two cubes that overlap by 0.5 and a third at a gap of 0.25 from the second."""
    meshes = [cube((0, 0, 0)), cube((1.5, 0, 0)), cube((3.75, 0, 0))]
    hard = finding(
        "hard",
        *names[:2],
        distance=-0.5,
        depth=0.5,
        mtv=(0.5, 0.0, 0.0),
        normal=(1.0, 0.0, 0.0),
        point_a=(1.0, 0.0, 0.0),
        point_b=(0.5, 0.0, 0.0),
        point=(0.75, 0.0, 0.0),
        overlap_volume=2.0,
        overlap_box=((0.5, -1.0, -1.0), (1.0, 1.0, 1.0)),
        method="boolean",
        distance_kind="bound",
        error_bound=1e-9,
        group="frame",
        note="pressed in, perhaps",
    )
    near = finding(
        "clearance",
        *names[1:],
        severity=2,
        distance=0.25,
        depth=0.0,
        normal=(1.0, 0.0, 0.0),
        point_a=(2.5, 0.0, 0.0),
        point_b=(2.75, 0.0, 0.0),
        point=(2.625, 0.0, 0.0),
        group="gap",
    )
    return Report(
        **{
            "clashes": (hard, near),
            "parts": tuple(part_row(name, mesh) for name, mesh in zip(names, meshes, strict=True)),
            "unit": "mm",
            "clearance": 0.5,
            "tolerance": 1e-6,
            "pairs_total": 3,
            "pairs_close": 2,
            "pairs_tested": 2,
            "elapsed": 0.01,
            "settings": {"shape": "auto"},
            "inputs": (Input("models/press.glb", "0" * 64, "mm"),),
            "assembly": Assembly(
                tuple(AssemblyPart(name, "press.glb", mesh) for name, mesh in zip(names, meshes, strict=True)), "mm"
            ),
        }
        | more
    )


def many(count, side=12):
    """Return a report of a grid of cubes with `count` findings of all kinds in turn."""
    places = [(3.0 * (i % side), 3.0 * (i // side % side), 3.0 * (i // side**2)) for i in range(side**3)]
    names = [f"line {i // 50}/cube {i}" for i in range(len(places))]
    meshes = [cube(place) for place in places]
    random = np.random.default_rng(5)
    clashes = []
    for k in range(count):
        i, j = sorted(random.choice(len(places), 2, replace=False).tolist())
        middle = tuple(((np.array(places[i]) + places[j]) / 2).tolist())
        clashes.append(
            finding(
                KINDS[k % len(KINDS)],
                names[i],
                names[j],
                severity=k + 1,
                id=f"{k:016x}",
                distance=float(k - count / 2),
                point=middle,
                group=f"group {k % 7}",
            )
        )
    return Report(
        clashes=tuple(clashes),
        parts=tuple(part_row(name, mesh) for name, mesh in zip(names, meshes, strict=True)),
        pairs_total=count,
        pairs_tested=count,
        assembly=Assembly(tuple(AssemblyPart(n, "grid.glb", m) for n, m in zip(names, meshes, strict=True))),
    )
