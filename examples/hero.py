"""Point out one clash in an assembly: the whole as a ghost, the two parts in colour, the overlap close up."""

import argparse
import sys
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path

import numpy as np

import gjk3d as gk

MODEL = Path(__file__).parents[1] / "data" / "gearbox.glb"
PARTS = ("shaft_in", "cap_in")
COLORS = ("#E69F00", "#009E73")
RED, INK = "#C8102E", "#202124"
SIZE, SHARP = (1400, 600), 2  #: drawn twice as large and shrunk, which is the smoothest
LENS, RADIUS = np.array([1065, 300]), 262  #: of the close-up
SCALE = 17.0  #: millimetres from the middle of the lens to its rim


def canvas(width, height):
    """Return an empty off-screen plotter."""
    import pyvista as pv

    plotter = pv.Plotter(off_screen=True, window_size=[SHARP * width, SHARP * height], lighting="light kit")
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


def overview(parts, result):
    """Draw the gearbox as a ghost round the two parts; return the picture and where the clash is in it."""
    plotter = canvas(*SIZE)
    look = {"smooth_shading": True, "split_sharp_edges": True}
    for name, mesh in parts.items():
        if name in PARTS:
            plotter.add_mesh(gk.viz.to_pyvista(mesh), color=COLORS[PARTS.index(name)], ambient=0.15, **look)
    for name, mesh in parts.items():
        if name not in PARTS:
            plotter.add_mesh(gk.viz.to_pyvista(mesh), color="#9FB1BD", opacity=0.12, **look)
    # looked at a little beside itself, it leaves room for the close-up on its right
    middle = np.array([-38.0, -31.5, 72.0])
    plotter.camera.focal_point = middle
    plotter.camera.position = middle + (-340.0, 150.0, -190.0)
    plotter.camera.up = (0.0, 1.0, 0.0)
    plotter.camera.view_angle = 24.0
    plotter.reset_camera_clipping_range()
    plotter.render()
    image, where = plotter.screenshot(None, return_img=True), pixel(plotter, result.point_b)
    plotter.close()
    return image, where


def close_up(parts, result):
    """Draw the end of the shaft in the cap, which is cut in half, across the normal; and where the two points are."""
    plotter = canvas(2 * RADIUS, 2 * RADIUS)
    shaft, cap = (gk.viz.to_pyvista(parts[name]) for name in PARTS)
    middle = parts[PARTS[1]].bounds.mean(axis=0)
    half = cap.clip_closed_surface("x", origin=middle)
    normal = result.normal
    inside, outside = (shaft.clip_closed_surface(n, origin=result.point_b) for n in (normal, -normal))
    for mesh, color in ((half, COLORS[1]), (outside, COLORS[0]), (inside, "#F2998A")):
        plotter.add_mesh(mesh, color=color, ambient=0.25, smooth_shading=True, split_sharp_edges=True)
    plotter.camera.focal_point = middle = middle * (1, 1, 0) + (0.0, 0.0, result.point_b[2] + 2.5)
    plotter.camera.position = middle - (60.0, 0.0, 0.0)
    plotter.camera.up = (0.0, 1.0, 0.0)
    plotter.camera.parallel_projection = True
    plotter.camera.parallel_scale = SCALE / 2
    plotter.reset_camera_clipping_range()
    plotter.render()
    image = plotter.screenshot(None, return_img=True)
    ends = [pixel(plotter, point) for point in (result.point_a, result.point_b)]
    plotter.close()
    return image, ends


def compose(result, parts, path):
    """Put the close-up beside the whole, and points, arrow and words on it."""
    from PIL import Image, ImageDraw, ImageFont

    gk.viz.check_rendering()
    whole, clash = overview(parts, result)
    detail, ends = close_up(parts, result)
    end_a, end_b = (end + LENS - RADIUS for end in ends)
    picture = Image.fromarray(whole)
    draw = ImageDraw.Draw(picture)

    def line(*points, color=INK, width=2.0):
        draw.line([tuple(SHARP * np.asarray(p)) for p in points], fill=color, width=round(SHARP * width), joint="curve")

    def disc(center, radius, **how):
        x, y = SHARP * np.asarray(center)
        draw.ellipse([x - SHARP * radius, y - SHARP * radius, x + SHARP * radius, y + SHARP * radius], **how)

    def head(tip, direction, size, color):
        along = np.asarray(direction, dtype=float) * size
        side = 0.42 * np.array([-along[1], along[0]])
        draw.polygon([tuple(SHARP * p) for p in (tip, tip - along + side, tip - along - side)], fill=color)

    def words(place, text, size, color=INK, anchor="ls"):
        draw.text(tuple(SHARP * np.asarray(place)), text, color, ImageFont.load_default(SHARP * size), anchor=anchor)

    # the two common tangents of the small circle and the large one
    small = 26
    way = LENS - clash
    tilt = np.arcsin((RADIUS - small) / np.linalg.norm(way))
    for sign in (1, -1):
        angle = np.arctan2(way[1], way[0]) + sign * (np.pi / 2 + tilt)
        ray = np.array([np.cos(angle), np.sin(angle)])
        line(clash + small * ray, LENS + RADIUS * ray, color="#8A949C", width=1.5)
    disc(clash, small, outline=RED, width=SHARP * 3)
    mask = Image.new("L", detail.shape[1::-1], 0)
    ImageDraw.Draw(mask).ellipse([0, 0, 2 * SHARP * RADIUS - 1, 2 * SHARP * RADIUS - 1], fill=255)
    picture.paste(Image.fromarray(detail), tuple(SHARP * (LENS - RADIUS)), mask)
    disc(LENS, RADIUS, outline="#8A949C", width=SHARP * 3)

    # the separation arrow, from the point on B to where it has to go, and its length as in a drawing
    above = np.array([0.0, -208.0])
    for end in (end_a, end_b):
        line(end, end + above - (0, 8), width=1.2)
    line(end_a + above + (-34, 0), end_a + above, width=1.5)
    line(end_b + above, end_b + above + (150, 0), width=1.5)
    head(end_a + above, (1, 0), 12, INK)
    head(end_b + above, (-1, 0), 12, INK)
    words(end_b + above + (22, -9), f"{result.depth:.1f} mm", 27)
    line(end_b, end_a + (16, 0), color=RED, width=7)
    head(end_a, (-1, 0), 26, RED)
    for end, color in ((end_a, "#7A5400"), (end_b, "#00523C")):
        disc(end, 8, fill=color, outline="white", width=SHARP * 2)
    words(end_b + (24, 0), "the shaft is too long:", 19, anchor="lm")
    words(end_b + (24, 26), "move the cap out", 19, RED, anchor="lm")

    low, high = Decimal(-result.upper), Decimal(-result.lower)
    digits = Decimal("1e-12")
    words((26, 44), f"{PARTS[0]} and {PARTS[1]} overlap by {result.depth:.1f} mm", 25)
    proof = f"depth in [{low.quantize(digits, ROUND_FLOOR)}, {high.quantize(digits, ROUND_CEILING)}] mm"
    words((26, 74), f"proven, hull against hull: {proof}", 17, "#5F6B73")
    picture.resize(SIZE, Image.Resampling.LANCZOS).save(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    out = parser.parse_args().out
    # a GLB is in metres; below in millimetres
    parts = {p.name: gk.Mesh(1000.0 * p.mesh.vertices, p.mesh.faces) for p in gk.load(MODEL).parts}
    result = gk.signed_distance(*(parts[name].hull() for name in PARTS))
    print(f"{PARTS[0]} and {PARTS[1]}, hull against hull: {result}")
    out.mkdir(parents=True, exist_ok=True)
    compose(result, parts, out / "hero.png")
    print(f"picture: {out / 'hero.png'}", file=sys.stderr)
