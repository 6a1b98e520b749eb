"""Draw what proves a depth: a plane that all differences of two shapes are behind, and a ball that they fill."""

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

#: of Okabe and Ito, which all kinds of colour vision tell apart
ORANGE, GREEN, BLUE, SKY = "#E69F00", "#009E73", "#0072B2", "#56B4E9"
RED, YELLOW, PEACH = "#D55E00", "#F0E442", "#FFC69E"
INK, GREY, GHOST = "#202124", "#5F6B73", "#9FB1BD"
SIZE, SHARP = (1400, 700), 2  #: drawn twice as large and shrunk, which is the smoothest
LEFT, RIGHT = 470, 930  #: widths of the two halves
VIEW, SCALE = np.array([0.3, -0.9, 0.33]), 2.3  #: both halves are seen one way, and as large


def epa_surface(result):
    """Return the polytope that EPA ended with: points of A - B and triangles, and the triangle it ended at."""
    last = result.trace.epa[-1]
    used, faces = np.unique(last.faces, return_inverse=True)
    return last.vertices[used], faces.reshape(-1, 3), last.vertices[last.closest]


def differences():
    """Return every vertex of A less every vertex of B; their hull is A - B, which no query ever builds."""
    a = np.array(np.meshgrid(*A.bounds.T)).reshape(3, -1).T
    b = B.vertices @ POSE[:3, :3].T + POSE[:3, 3]
    return (a[:, None] - b[None]).reshape(-1, 3)


def prove(result, points, faces):
    """Measure both bounds again, by what the picture shows; return them."""
    outer = float((differences() @ result.normal).max())
    p, q, r = (points[faces[:, i]] for i in range(3))
    across = np.cross(q - p, r - p)
    inner = float((np.einsum("ij,ij->i", across, p) / np.linalg.norm(across, axis=1)).min())
    print(f"the plane is {outer:.12f} from the origin: no deeper than this")
    print(f"the surface is {inner:.12f} from the origin: no shallower than this")
    return inner, outer


def canvas(width):
    """Return an empty off-screen plotter."""
    import pyvista as pv

    plotter = pv.Plotter(off_screen=True, window_size=[SHARP * width, SHARP * SIZE[1]], lighting="light kit")
    plotter.set_background("white")
    return plotter


def pixel(plotter, point):
    """Return where a point of the world is in the picture."""
    from vtkmodules.vtkRenderingCore import vtkCoordinate

    coordinate = vtkCoordinate()
    coordinate.SetCoordinateSystemToWorld()
    coordinate.SetValue(*point)
    x, y = coordinate.GetComputedDoubleDisplayValue(plotter.renderer)
    return np.array([x, plotter.window_size[1] - y]) / SHARP


def glass(plotter, mesh, color, opacity, side, edges=None):
    """Add one side of a convex solid, the far or the near one: added in turn, they blend in the right order."""
    culling = {"far": "front", "near": "back"}[side]
    plotter.add_mesh(mesh, color=color, opacity=opacity, culling=culling, ambient=0.35, diffuse=0.7)
    if edges:
        lines = mesh.extract_feature_edges(3, boundary_edges=False)
        plotter.add_mesh(lines, color=edges, line_width=SHARP * (1.6 if side == "near" else 0.8))


def photograph(plotter, middle, points):
    """Return the picture, and where some points are in it."""
    plotter.camera.focal_point = middle
    plotter.camera.position = np.asarray(middle) + 12.0 * VIEW
    plotter.camera.up = (0.0, 0.0, 1.0)
    plotter.camera.parallel_projection = True
    plotter.camera.parallel_scale = SCALE
    plotter.reset_camera_clipping_range()
    plotter.render()
    image = plotter.screenshot(None, return_img=True)
    where = [pixel(plotter, point) for point in points]
    plotter.close()
    return image, where


def shapes(result):
    """Draw the two shapes; return the picture, and where the points of A and of B are in it."""
    plotter = canvas(LEFT)
    a, b = gk.viz.to_pyvista(A), gk.viz.to_pyvista(B, POSE)
    for side in ("far", "near"):
        for mesh, color, edges in ((a, ORANGE, "#7A5400"), (b, GREEN, "#00523C")):
            glass(plotter, mesh, color, 0.5, side, edges)
    return photograph(plotter, (0.45, 0.0, 0.1), [result.point_a, result.point_b])


def difference(result, points, faces, nearest, radius):
    """Draw A - B with the surface, the ball and the plane; return the picture, and where some points are in it."""
    import pyvista as pv

    plotter = canvas(RIGHT)
    ghost = gk.ConvexHull(differences()).vertices
    whole = gk.viz.to_pyvista(gk.ConvexHull(ghost))
    surface = pv.PolyData.from_regular_faces(points, faces)
    ball = pv.Sphere(radius=radius, theta_resolution=128, phi_resolution=128)
    touch = radius * result.normal
    side = np.cross((0.0, 0.0, 1.0), result.normal)
    up = np.cross(result.normal, side)
    square = np.array([touch + 1.35 * (i * side + j * up) for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    plane = pv.PolyData.from_regular_faces(square, [[0, 1, 2, 3]])
    glass(plotter, whole, GHOST, 0.14, "far", GHOST)
    glass(plotter, surface, SKY, 0.5, "far", "#2C5F7A")
    plotter.add_mesh(ball, color=YELLOW, ambient=0.35, diffuse=0.75, smooth_shading=True)
    glass(plotter, surface, SKY, 0.13, "near", "#2C5F7A")
    glass(plotter, whole, GHOST, 0.08, "near", GHOST)
    plotter.add_mesh(plane, color=BLUE, opacity=0.2, lighting=False)
    plotter.add_mesh(plane.extract_feature_edges(), color=BLUE, line_width=SHARP * 2)
    lifted = pv.PolyData.from_regular_faces(nearest + 0.004 * result.normal, [[0, 1, 2]])
    plotter.add_mesh(lifted, color=PEACH, lighting=False)
    plotter.add_mesh(lifted.extract_feature_edges(), color=INK, line_width=SHARP * 2)
    return photograph(plotter, (0.42, 0.0, 0.0), [np.zeros(3), touch, square[2], *points, *ghost])


def compose(result, points, faces, nearest, radius, path):
    """Put both halves side by side, and arrows and words on them."""
    from PIL import Image, ImageDraw, ImageFont

    gk.viz.check_rendering()
    pair, (end_a, end_b) = shapes(result)
    proof, places = difference(result, points, faces, nearest, radius)
    origin, touch, corner, *others = (place + (LEFT, 0) for place in places)
    # what the words point at: the lower right corners of the surface and of the whole, which are seen best
    on_surface, on_whole = (max(some, key=sum) for some in (others[: len(points)], others[len(points) :]))
    picture = Image.fromarray(np.hstack([pair, proof]))
    draw = ImageDraw.Draw(picture)

    def line(*points, color=INK, width=2.0):
        draw.line([tuple(SHARP * np.asarray(p)) for p in points], fill=color, width=round(SHARP * width), joint="curve")

    def arrow(start, tip, color, width, size):
        along = (tip - start) / np.linalg.norm(tip - start) * size
        side = 0.42 * np.array([-along[1], along[0]])
        head = [tuple(SHARP * p) for p in (tip, tip - along + side, tip - along - side)]
        for ink, rim in (("white", 2), (color, 0)):
            draw.polygon(head, fill=ink, outline=ink, width=2 * SHARP * rim)
            line(start, tip - 0.8 * along, color=ink, width=width + 2 * rim)

    def disc(center, radius, color):
        (x, y), r = SHARP * np.asarray(center), SHARP * radius
        draw.ellipse([x - r, y - r, x + r, y + r], fill=color, outline="white", width=SHARP * 2)

    def words(place, text, size=21, color=INK, anchor="ls"):
        font = ImageFont.load_default(SHARP * size)
        draw.text(tuple(SHARP * np.asarray(place)), text, color, font, anchor=anchor, spacing=SHARP * 7)

    def remark(place, target, headline, rest, color):
        """Write some lines, and lead from the first to what they are about."""
        x, y = place
        line((x - 8, y - 7), target, color=color, width=1.5)
        disc(target, 5, color)
        words(place, headline, 21, color)
        words((x, y + 10), rest, 19, INK, "la")

    words((24, 46), "Two shapes overlap", 26)
    words((24, 78), f"{result.depth:.6f} is the shortest way out for B, the arrow", 19, GREY)
    words((LEFT + 44, 46), "The proof: their difference A - B", 26)
    words((LEFT + 44, 78), "every point of A minus every point of B", 19, GREY)
    arrow(end_b, end_a, RED, 7, 26)
    disc(end_a, 8, "#7A5400")
    disc(end_b, 8, "#00523C")
    words((30, 528), "A", 30, "#7A5400")
    words((405, 330), "B", 30, "#00523C")
    ways = (result.lower, ROUND_CEILING), (result.upper, ROUND_FLOOR)
    ceiling, floor = (Decimal(-x).quantize(Decimal("1e-6"), way) for x, way in ways)
    column = LEFT + 640
    remark(
        (column, 130),
        corner + (0, 40),
        "supporting plane",
        f"no point of A - B is beyond it:\ndepth at most {ceiling}",
        BLUE,
    )
    on_ball = origin + np.linalg.norm(touch - origin) * np.array([0.42, 0.75])
    remark(
        (column, 300),
        on_ball,
        "ball up to the nearest face",
        f"inside the surface, so in A - B:\ndepth at least {floor}",
        "#7A6A00",
    )
    text = f"{len(points)} points of A - B, closed\nround the origin"
    remark((column, 600), on_surface, "EPA's surface", text, "#2C5F7A")
    remark((column, 460), on_whole, "A - B", "the ghost: no query builds it", GREY)
    arrow(origin, touch, RED, 7, 26)
    disc(origin, 9, INK)
    words(origin + (-14, -12), "origin", 21, INK, "rs")
    picture.resize(SIZE, Image.Resampling.LANCZOS).save(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    out = parser.parse_args().out
    result = gk.signed_distance(A, B, None, POSE, trace=True)
    print(result)
    points, faces, nearest = epa_surface(result)
    inner, _ = prove(result, points, faces)
    out.mkdir(parents=True, exist_ok=True)
    compose(result, points, faces, nearest, inner, out / "certificate.png")
    print(f"picture: {out / 'certificate.png'}", file=sys.stderr)
