"""Draw the proof of a depth: a plane in front of the Minkowski difference, and a ball inside it."""

import argparse
import sys
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

import gjk3d as gk

A = gk.Box((1.5, 1.3, 1.3))
B = gk.Tetrahedron([(-0.8, -0.6, -0.6), (0.9, -0.5, -0.6), (0.0, 0.9, -0.5), (0.0, 0.0, 1.0)])
POSE = RigidTransform.from_components((0.75, 0.2, 0.3), Rotation.from_rotvec((0.5, 0.6, 2.4))).as_matrix()

VIEW = (0.3, -0.9, 0.33)  #: of both pictures


def epa_surface(result):
    """Return the last polytope of EPA: points of A - B, and triangles."""
    last = result.trace.epa[-1]
    used, faces = np.unique(last.faces, return_inverse=True)
    return last.vertices[used], faces.reshape(-1, 3)


def differences():
    """Return all vertices of A minus all vertices of B. Their hull is A - B, which no query builds."""
    a = np.array(np.meshgrid(*A.bounds.T)).reshape(3, -1).T
    b = B.vertices @ POSE[:3, :3].T + POSE[:3, 3]
    return (a[:, None] - b[None]).reshape(-1, 3)


def prove(result, points, faces):
    """Compute both bounds from the drawn plane and surface, without the solver, and return them."""
    outer = float((differences() @ result.normal).max())
    p, q, r = (points[faces[:, i]] for i in range(3))
    across = np.cross(q - p, r - p)
    inner = float((np.einsum("ij,ij->i", across, p) / np.linalg.norm(across, axis=1)).min())
    print(f"the plane is {outer:.12f} from the origin, so the depth is at most that")
    print(f"the surface is {inner:.12f} from the origin, so the depth is at least that")
    return inner, outer


def draw(result, points, faces, radius, path):
    """Draw the two shapes, and next to them A - B with the surface, the ball and the plane."""
    plotter = gk.viz.plotter((1, 2), (1200, 560), off_screen=True)
    gk.viz.plot(result, plotter, view=VIEW)
    plotter.subplot(0, 1)
    ceiling, floor = (
        Decimal(-x).quantize(Decimal("1e-6"), rounding)
        for x, rounding in ((result.lower, ROUND_CEILING), (result.upper, ROUND_FLOOR))
    )
    touch = radius * result.normal
    side = np.cross((0.0, 0.0, 1.0), result.normal)
    up = np.cross(result.normal, side)
    gk.viz.plot(
        [
            (gk.Sphere(radius), None),
            [gk.Segment((0, 0, 0), touch), gk.Point((0, 0, 0))],
            gk.Mesh(points, faces),
            gk.ConvexHull([touch + 1.35 * (i * side + j * up) for i in (-1, 1) for j in (-1, 1)]),
            gk.ConvexHull(differences()),
        ],
        plotter,
        colors=("#F0E442", "#D55E00", "#56B4E9", "#0072B2", "#9FB1BD"),
        opacity=(1.0, 1.0, 0.35, 0.25, 0.15),
        names=(
            f"ball inside the surface: depth at least {floor}",
            "from the origin to the nearest face",
            f"EPA's surface: {len(points)} points of A - B",
            f"plane that A - B is behind: depth at most {ceiling}",
            "A - B: the ghost, which no query builds",
        ),
        title="The proof: their difference A - B",
        view=VIEW,
    )
    plotter.screenshot(path)
    plotter.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    out = parser.parse_args().out
    result = gk.signed_distance(A, B, None, POSE, trace=True)
    print(result)
    points, faces = epa_surface(result)
    inner, _ = prove(result, points, faces)
    out.mkdir(parents=True, exist_ok=True)
    draw(result, points, faces, inner, out / "certificate.png")
    print(f"picture: {out / 'certificate.png'}", file=sys.stderr)
