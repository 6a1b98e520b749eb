"""Draw the figures of the lesson "From 2D tutorials to 3D": support, Voronoi regions, horizon, separating axes."""

import argparse
import sys
from pathlib import Path

import numpy as np

import gjk3d as gk

A = np.array([(4, 11), (4, 5), (9, 9)])
B = np.array([(5, 7), (7, 3), (10, 2), (12, 7)])
ABOVE = {"view": (0.1, -0.55, 1.0), "up": (0, 1, 0)}
BLUE, GREEN, ORANGE, RED, YELLOW, SKY, BLACK = (
    "#0072B2", "#009E73", "#E69F00", "#D55E00", "#F0E442", "#56B4E9", "#222222",
)  # fmt: skip


def prism(polygon, half_height=1.0):
    """Return the polygon extruded along z."""
    return gk.ConvexHull([(x, y, z) for x, y in polygon for z in (half_height, -half_height)])


def rod(start, end, radius):
    """Return a thick line."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    return gk.Segment(start, end).inflated(radius)


def ball(center, radius):
    """Return a marked point."""
    return gk.Point(center).inflated(radius)


def arrow(start, along, radius):
    """Return a shaft and a tip."""
    start, along = np.asarray(start, float), np.asarray(along, float)
    tip = [start + 0.8 * along, start + along]
    side = np.cross(along, (0.3, 0.5, 0.8))
    side *= 3 * radius / np.linalg.norm(side)
    other = np.cross(along, side) / np.linalg.norm(along)
    rim = [tip[0] + np.cos(t) * side + np.sin(t) * other for t in np.arange(12) * np.pi / 6]
    return [rod(start, tip[0], radius), gk.ConvexHull([*rim, tip[1]])]


def draw(plotter, items, **options):
    """Draw items, each with a shape or a list of shapes, a color, an opacity and a name."""
    shapes, colors, opacity, names = zip(*items, strict=True)
    gk.viz.plot(list(shapes), plotter, colors=colors, opacity=opacity, names=names, **options)


def label(plotter, points, words):
    """Write words next to points."""
    plotter.add_point_labels(
        np.asarray(points, float), words, font_size=16, shape=None, shadow=True, show_points=False, always_visible=True,
        reset_camera=False,
    )  # fmt: skip


def support(path):
    """Draw the support points of two prisms, and the support point of their difference."""
    moved, d = B + (3, -1), np.array([-1.0, -3.0, 0.0]) / np.sqrt(10)
    a, b = prism(A), prism(moved)
    p, q = a.support(d), b.support(-d)
    plotter = gk.viz.plotter((1, 2), (1200, 480), off_screen=True)
    draw(
        plotter,
        [
            (a, ORANGE, 0.6, "A"),
            (b, GREEN, 0.6, "B"),
            (arrow(p, 3 * d, 0.1) + arrow(q, -3 * d, 0.1), BLUE, 1.0, "d at A, -d at B"),
            ([ball(p, 0.25), ball(q, 0.25)], RED, 1.0, "support points"),
        ],
        title="The point of A farthest along d,\nand the point of B farthest along -d",
        **ABOVE,
    )
    label(plotter, [p, q], [f"({p[0]:g}, {p[1]:g})", f"({q[0]:g}, {q[1]:g})"])
    plotter.subplot(0, 1)
    w = p - q
    across = np.array([-d[1], d[0], 0.0])
    plane = gk.ConvexHull([w + s * across + (0, 0, z) for s in (-3, 9) for z in (-2.5, 2.5)])
    difference = gk.ConvexHull((a.vertices[:, None] - b.vertices[None]).reshape(-1, 3))
    draw(
        plotter,
        [
            (difference, SKY, 0.6, "A - B"),
            (plane, YELLOW, 0.6, "supporting plane: no point of A - B is beyond it"),
            (arrow(w, 3 * d, 0.1), BLUE, 1.0, "d"),
            (ball(w, 0.25), RED, 1.0, "w, the support point of A - B"),
            (ball((0, 0, 0), 0.25), BLACK, 1.0, "the origin"),
        ],
        title="Their difference w is the point\nof A - B farthest along d",
        **ABOVE,
    )
    label(plotter, [w], [f"w = ({w[0]:g}, {w[1]:g})"])
    plotter.screenshot(path)
    plotter.close()


def regions(path):
    """Draw Voronoi regions of a segment, a triangle and a tetrahedron, cut off at some distance."""
    plotter = gk.viz.plotter((1, 3), (1200, 470), off_screen=True)
    look = {"view": (0.55, -1.0, 0.55)}
    a, b, c = np.array([(-1.0, 0, 0), (1.0, 0, 0), (0.2, 1.4, 0)])
    plate = [np.array((0, y, z)) for y in (-0.9, 0.9) for z in (-0.9, 0.9)]
    far = np.array((1.1, 0, 0))
    draw(
        plotter,
        [
            (rod(a, b, 0.05), BLACK, 1.0, "segment AB"),
            (gk.ConvexHull([x + p for x in (a, b) for p in plate]), SKY, 0.45, "region of AB: both weights > 0"),
            (gk.ConvexHull([x + p for x in (b, b + far) for p in plate]), ORANGE, 0.45, "region of B: weight of A ≤ 0"),
            (gk.ConvexHull([x + p for x in (a, a - far) for p in plate]), GREEN, 0.45, "region of A: weight of B ≤ 0"),
        ],
        title="Segment: 3 regions",
        **look,
    )
    label(plotter, [a, b], ["A", "B"])
    plotter.subplot(0, 1)
    up = np.array((0, 0, 1.0))
    out = np.cross(c - b, up) / np.linalg.norm(c - b)
    down = np.array((0, -1.0, 0))
    column = lambda points: gk.ConvexHull([p + s * up for p in points for s in (-0.8, 0.8)])  # noqa: E731
    draw(
        plotter,
        [
            (gk.Triangle((a, b, c)), BLACK, 1.0, "triangle ABC"),
            (column([a, b, c]), SKY, 0.45, "region of ABC: all weights > 0"),
            (column([b, c, b + out, c + out]), YELLOW, 0.55, "region of BC"),
            (column([b, b + out, b + down]), ORANGE, 0.55, "region of B"),
        ],
        title="Triangle: 7 regions",
        **look,
    )
    label(plotter, [a, b, c], ["A", "B", "C"])
    plotter.subplot(0, 2)
    p = np.array([(-1.0, -0.7, -0.6), (1.0, -0.7, -0.6), (0.1, 1.0, -0.6), (0, -0.2, 0.9)])
    inner = p.mean(axis=0)

    def normal(i, j, k):
        n = np.cross(p[j] - p[i], p[k] - p[i])
        n /= np.linalg.norm(n)
        return n if n @ (p[i] - inner) > 0 else -n

    n = {side: normal(*side) for side in ((0, 1, 3), (1, 2, 3), (0, 2, 3), (0, 1, 2))}
    front, right, left = n[0, 1, 3], n[1, 2, 3], n[0, 2, 3]
    draw(
        plotter,
        [
            (gk.ConvexHull(p), BLACK, 0.85, "tetrahedron ABCD"),
            (gk.ConvexHull([q + s * front for q in p[[0, 1, 3]] for s in (0.02, 0.9)]), SKY, 0.5, "region of face ABD"),
            (
                gk.ConvexHull([q + s for q in p[[1, 3]] for s in (0 * front, 0.9 * front, 0.9 * right)]),
                YELLOW,
                0.6,
                "region of edge BD",
            ),
            (
                gk.ConvexHull([p[3] + s for s in (0 * front, 0.9 * front, 0.9 * right, 0.9 * left)]),
                ORANGE,
                0.6,
                "region of vertex D",
            ),
        ],
        title="Tetrahedron: 15 regions",
        **look,
    )
    label(plotter, p, ["A", "B", "C", "D"])
    plotter.screenshot(path)
    plotter.close()


def horizon(path):
    """Draw one step of EPA: the nearest face, the faces visible from the new point, the horizon, and the new fan."""
    a, b = gk.Ellipsoid((1.6, 1.2, 1.0)), gk.Box((1.0, 1.0, 1.0))
    trace = gk.signed_distance(a, b, None, gk.Motion(None, (0.6, 0.35, 0.3)).at(1), depth="epa", trace=True).trace.epa
    step = max(trace[6:13], key=lambda each: len(each.removed))
    v, w = step.vertices, step.point
    removed = {tuple(face) for face in np.asarray(step.removed).tolist()}
    nearest = tuple(np.asarray(step.closest).tolist())
    rim = np.asarray(step.horizon).tolist()
    others = [gk.Triangle(v[list(face)]) for face in step.faces.tolist() if tuple(face) not in removed]
    visible = [gk.Triangle(v[list(face)]) for face in removed if face != nearest]
    first = (gk.Triangle(v[list(nearest)]), YELLOW, 1.0, "nearest face")
    kept = (others, SKY, 1.0, "faces that stay")
    point = (ball(w, 0.05), RED, 1.0, "w, the new support point")
    edge = ([rod(v[i], v[j], 0.025) for i, j in rim], RED, 1.0, "horizon")
    fan = ([gk.Triangle((v[i], v[j], w)) for i, j in rim], GREEN, 1.0, "new faces")
    u = np.asarray(step.direction)
    side = np.cross(u, (0.2, 0.1, 1.0))
    look = {"view": u + 0.7 * side / np.linalg.norm(side), "up": u}
    plotter = gk.viz.plotter((1, 3), (1200, 470), off_screen=True)
    panels = [
        ([(others + visible, SKY, 1.0, "polytope"), first, point], "1. Take the nearest face"),
        ([kept, first, (visible, "#F4B08A", 1.0, "other faces visible from w"), point, edge], "2. Find the horizon"),
        ([kept, fan, point, edge], "3. Close the hole by a fan"),
    ]
    for column, (items, title) in enumerate(panels):
        plotter.subplot(0, column)
        draw(plotter, items, title=title, **look)
    plotter.screenshot(path)
    plotter.close()


def axes(path):
    """Draw the projections of two prisms on separating axes: a gap, and the least overlap."""
    plotter = gk.viz.plotter((1, 2), (1200, 520), off_screen=True)
    for column, move in enumerate(((3, -1), (0, 0))):
        plotter.subplot(0, column)
        moved = B + move
        n = np.array([4.0, -5.0]) / np.sqrt(41)
        across = np.array([5.0, 4.0]) / np.sqrt(41)
        line = 17 * across if column == 0 else 15 * across
        spans = [(min(points @ n), max(points @ n)) for points in (A, moved)]
        place = lambda x, line=line, n=n: np.array([*(line + x * n), 1.0])  # noqa: E731
        (low_a, high_a), (low_b, high_b) = spans
        gap = high_a < low_b
        between = sorted((high_a, low_b))
        items = [
            ([prism(A), rod(place(low_a), place(high_a), 0.2)], ORANGE, 0.7, "A and its projection"),
            ([prism(moved), rod(place(low_b), place(high_b), 0.2)], GREEN, 0.7, "B and its projection"),
            (rod(place(low_a - 1), place(high_b + 1), 0.05), BLACK, 1.0, "axis n = (4, -5) / √41"),
            (
                rod(place(between[0]), place(between[1]), 0.3),
                RED,
                1.0,
                "gap" if gap else "overlap: the length of the MTV",
            ),
        ]
        size = abs(low_b - high_a)
        draw(plotter, items, title=f"{'Gap' if gap else 'Least overlap'} {size:.6f}", **ABOVE)
    plotter.screenshot(path)
    plotter.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the pictures")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for figure in (support, regions, horizon, axes):
        file = out / f"lesson_{figure.__name__}.png"
        figure(file)
        print(f"picture: {file}", file=sys.stderr)
