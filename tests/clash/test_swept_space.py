"""The swept space of a moving part, compared with the part at many times by manifold3d."""

import manifold3d
import numpy as np
import pytest
import trimesh

import gjk3d as gk
from gjk3d.clash import Assembly, Movement, check, swept
from gjk3d.clash.formats import to_glb
from gjk3d.clash.motion import envelope
from gjk3d.clash.motion.envelope import convex_pieces
from gjk3d.errors import ParseError, ShapeError
from tests.hardening import swept_rotations

_OUTLINE = manifold3d.CrossSection([np.array([(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)], dtype=float)])
ELL = manifold3d.Manifold.extrude(_OUTLINE, 1.0)


def mesh_of(solid):
    raw = solid.to_mesh64()
    return gk.Mesh(np.array(raw.vert_properties)[:, :3], np.array(raw.tri_verts, dtype=np.int64))


def solid_of(mesh):
    return manifold3d.Manifold(manifold3d.Mesh64(np.array(mesh.vertices), np.array(mesh.faces, dtype=np.uint64)))


@pytest.mark.parametrize("number", [0, 7, 19])
def test_hulls_of_coplanar_points_are_convex(number):
    """Regression: a hundredth of the cylinder was outside its own swept space."""
    assert swept_rotations.missing(*swept_rotations.rotation(np.random.default_rng([1, number]))) == 0.0


@pytest.mark.full
def test_swept_space_contains_rotated_cylinders():
    assert swept_rotations.faults(50, seed=2) == []


@pytest.mark.parametrize("form", ["slices", "hull"])
@pytest.mark.parametrize(
    "motion",
    [
        gk.Motion(None, (5, 0, 0), (0, 0, 0)),
        gk.Motion(None, (0, 0, 2), (0.4, -0.3, 2.0), center=(6, 1, 0)),
        gk.Motion(None, (0, 0, 0), (0, 0, 2 * np.pi), center=(-4, 0, 0)),
        gk.Motion(None, (0, 0, 0), (3, 0, -40), center=(-4, 0, 0)),
        gk.Motion(None, (0, 0, 0), (0.1, 0, 0.5), center=(-60, 0, 0)),
    ],
)
def test_swept_space_contains_part_at_all_times(form, motion):
    post = gk.Mesh(*gk.Box((0.1, 0.1, 0.1)).surface())
    parts = Assembly.of({"ell": mesh_of(ELL), "post": post}, "mm")
    space = swept(parts, Movement({"ell": motion}), "ell", form)
    mesh = next(part.mesh for part in space.parts if part.name == "ell, swept")
    assert mesh.is_watertight
    outside = solid_of(mesh)
    for time in np.random.default_rng(1).uniform(0.0, 1.0, 60).tolist():
        moved = ELL.transform(motion.at(time)[:3])
        assert (moved - outside).volume() <= 1e-12 * ELL.volume()
    grown = float(next(note for note in space.notes if "ell, swept" in note).split("grown by ")[1].split()[0])
    hull = ELL.hull()
    if form == "slices":  # every sampled vertex is within twice the growth of the hull at some time
        trail = [hull.transform(motion.at(t)[:3]) for t in np.linspace(0.0, 1.0, 600)]
        corners = mesh.vertices[np.random.default_rng(2).choice(len(mesh.vertices), 8)]
        for corner in corners:
            dot = manifold3d.Manifold.cube((2e-3,) * 3, True).translate(corner)
            assert min(dot.min_gap(solid, 1.0) for solid in trail) <= 2.0 * grown + 0.05


def contains_motion(space, tracks, solids):
    """Return whether the swept space contains the solids at 40 times of their tracks."""
    swept_solid = solid_of(next(part.mesh for part in space.parts if part.name.endswith(", swept")))
    for name, track in tracks.items():
        for time in np.random.default_rng(3).uniform(track.times[0], track.times[-1], 40).tolist():
            moved = solids[name].transform(track.pose(time)[:3])
            if (moved - swept_solid).volume() > 1e-12 * moved.volume():
                return False
    return True


@pytest.mark.parametrize("limits", [{"_HULLS": 40}, {"_STEPS": 20}, {"_HULLS": 7, "_STEPS": 50}])
def test_long_motion_has_coarser_slices_not_more(monkeypatch, limits):
    """Slices then cover several steps or follow the motion less closely, and still contain the moving part."""
    for name, value in limits.items():
        monkeypatch.setattr(envelope, name, value)
    parts = Assembly.of({"ell": mesh_of(ELL)}, "mm")
    movement = Movement({"ell": gk.Motion(None, (0, 0, 9), (0, 0, 4 * np.pi), center=(-4, 0, 0))})
    space = swept(parts, movement, "ell")
    slices = int(space.notes[-1].split("hulls of ")[1].split()[0])
    assert slices <= 2 * min(limits.values())
    assert contains_motion(space, movement.place(["ell"], {"ell": parts.parts[0].mesh.bounds}), {"ell": ELL})


@pytest.mark.parametrize("far", [20.0, 60.0])
def test_swept_volume_is_tight_far_from_the_axis(far):
    cube = gk.Box((1, 1, 1)).surface()
    parts = Assembly.of({"cube": gk.Mesh(cube.vertices + (far + 0.5, 0, 0), cube.faces)}, "mm")
    space = swept(parts, Movement({"cube": gk.Motion(None, angular=(0, 0, 2 * np.pi), center=(0, 0, 0))}), "cube")
    ring = np.pi * ((far + 1.0) ** 2 + 0.25 - far**2)
    assert ring <= volume_of(space, "cube, swept") <= 1.01 * ring


def _repeated_movements(turns):
    there_and_back = np.tile(np.eye(4), (2 * turns + 1, 1, 1))
    there_and_back[1::2, 0, 3] = 5.0
    drive = (0.0, 2.0 * np.pi * turns)
    return [
        Movement({"ell": gk.Motion(None, angular=(0, 0, 2 * np.pi * turns), center=(-4, 0, 0))}),
        Movement({"ell": there_and_back}),
        Movement(joints=[gk.clash.Joint("crank", "revolute", "ell", point=(-4, 0, 0), drive=drive)]),
    ]


@pytest.mark.full
def test_repeated_motion_is_swept_once():
    parts = Assembly.of({"ell": mesh_of(ELL)}, "mm")
    for single, repeated in zip(_repeated_movements(1), _repeated_movements(12), strict=True):
        once, often = swept(parts, single, "ell"), swept(parts, repeated, "ell")
        assert often.notes[-1].split("grown")[0] == once.notes[-1].split("grown")[0]
        assert volume_of(often, "ell, swept") == pytest.approx(volume_of(once, "ell, swept"), rel=1e-9)
        assert contains_motion(often, repeated.place(["ell"], {"ell": parts.parts[0].mesh.bounds}), {"ell": ELL})


def bolt():
    shank, head = manifold3d.Manifold.cylinder(20, 3, 3, 32), manifold3d.Manifold.cylinder(5, 6, 6, 32)
    return shank + head.translate((0, 0, 20))


def volume_of(space, name):
    return next(part.mesh.volume for part in space.parts if part.name == name)


def test_swept_space_of_headed_bolt_excludes_ring_at_shank():
    """A ring around the shank, smaller than the head, overlaps only the hull of the bolt."""
    ring = manifold3d.Manifold.cylinder(4, 5, 5, 32) - manifold3d.Manifold.cylinder(4, 4, 4, 32)
    parts = Assembly.of({"bolt": mesh_of(bolt()), "ring": mesh_of(ring.translate((0, 0, 15.5)))}, "mm")
    space = swept(parts, Movement({"bolt": gk.Motion.translation(None, (0, 0, 30))}), "bolt")
    assert [clash.kind for clash in check(space).clashes] == []
    area = 16 * np.sin(np.pi / 16)  # area of a regular polygon of 32 corners with circumradius 1
    assert volume_of(space, "bolt, swept") == pytest.approx(area * (9 * 20 + 36 * 35), rel=1e-4)
    assert "2 pieces" in space.notes[-1]
    filled = swept(parts, Movement({"bolt": gk.Motion.translation(None, (0, 0, 30))}), "bolt", "hull")
    assert [clash.kind for clash in check(filled).clashes] == ["contained"]


@pytest.mark.parametrize("most", [1, 4, 64])
def test_hulls_of_convex_pieces_contain_the_solid(most):
    nut = manifold3d.Manifold.cylinder(5, 8, 8, 6) - manifold3d.Manifold.cylinder(7, 4, 4, 32).translate((0, 0, -1))
    for solid in (ELL, bolt(), nut, bolt().rotate((20, 30, 40)) + ELL.translate((30, 0, 0)), nut.scale((1e-3,) * 3)):
        pieces = convex_pieces(solid, most)
        hulls = [solid_of(gk.Mesh(*gk.ConvexHull(piece).surface()[:2])) for piece in pieces]
        union = manifold3d.Manifold.batch_boolean(hulls, manifold3d.OpType.Add)
        assert (solid - union).volume() <= 1e-9 * solid.volume()
        if most == 64:
            assert union.volume() == pytest.approx(solid.volume(), rel=1e-3)


def test_open_part_is_swept_by_its_hull():
    solid = mesh_of(bolt())
    parts = Assembly.of({"bolt": gk.Mesh(solid.vertices, solid.faces[:-1])}, "mm")
    space = swept(parts, Movement({"bolt": gk.Motion.translation(None, (0, 0, 30))}), "bolt")
    assert "1 slice of 1 piece" in space.notes[-1]


@pytest.mark.full
def test_swept_space_of_engine_clashes_with_sensor(tmp_path):
    engine = Assembly.load("data/engine/engine.glb")
    space = swept(engine, "data/engine/engine.toml", "crank_*", "slices")
    assert {part.name for part in space.parts} == {"block", "crank_*, swept", "head", "sensor"}
    report = check(space)
    assert any(c.kind == "hard" and c.b == "sensor" for c in report.clashes if c.a == "crank_*, swept")
    to_glb(report, tmp_path / "space.glb")
    saved = trimesh.load_scene(tmp_path / "space.glb").geometry["crank_*, swept"]
    reach = np.linalg.norm(saved.vertices[:, :2], axis=1).max()
    assert 0.044 <= reach <= 0.0445


def test_invalid_sweeps_raise():
    cube = gk.Mesh(*gk.Box((1, 1, 1)).surface())
    parts, slide = Assembly.of({"a": cube}), Movement({"a": gk.Motion.translation(None, (1, 0, 0))})
    with pytest.raises(ParseError, match=r"swept.*'b'.*expected 'a'\.$"):
        swept(parts, slide, "b")
    with pytest.raises(ShapeError, match=r"form.*'mesh'.*'slices'.*'hull'"):
        swept(parts, slide, "a", "mesh")
    with pytest.raises(TypeError, match=r"swept.*\bstr\b.*Assembly\.load\(paths\)"):
        swept("a.glb", slide, "a")
