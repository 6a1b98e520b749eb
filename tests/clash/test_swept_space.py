"""The space that a moving part needs, against the part itself at many times, by manifold3d."""

import manifold3d
import numpy as np
import pytest
import trimesh

import gjk3d as gk
from gjk3d.clash import Assembly, Movement, check, swept
from gjk3d.clash.formats import to_glb
from gjk3d.errors import ParseError, ShapeError

_OUTLINE = manifold3d.CrossSection([np.array([(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)], dtype=float)])
ELL = manifold3d.Manifold.extrude(_OUTLINE, 1.0)


def mesh_of(solid):
    raw = solid.to_mesh64()
    return gk.Mesh(np.array(raw.vert_properties)[:, :3], np.array(raw.tri_verts, dtype=np.int64))


def solid_of(mesh):
    return manifold3d.Manifold(manifold3d.Mesh64(np.array(mesh.vertices), np.array(mesh.faces, dtype=np.uint64)))


@pytest.mark.parametrize("form", ["slices", "hull"])
@pytest.mark.parametrize(
    "motion",
    [
        gk.Motion(None, (5, 0, 0), (0, 0, 0)),
        gk.Motion(None, (0, 0, 2), (0.4, -0.3, 2.0), center=(6, 1, 0)),
        gk.Motion(None, (0, 0, 0), (0, 0, 2 * np.pi), center=(-4, 0, 0)),
    ],
)
def test_every_place_that_is_passed_is_held(form, motion):
    post = gk.Mesh(*gk.Box((0.1, 0.1, 0.1)).surface())
    parts = Assembly.of({"ell": mesh_of(ELL), "post": post}, "mm")
    space = swept(parts, Movement({"ell": motion}), "ell", form)
    envelope = next(part.mesh for part in space.parts if part.name == "ell, swept")
    assert envelope.is_watertight
    outside = solid_of(envelope)
    for time in np.random.default_rng(1).uniform(0.0, 1.0, 60).tolist():
        there = ELL.transform(motion.at(time)[:3])
        assert (there - outside).volume() <= 1e-12 * ELL.volume()
    grown = float(next(note for note in space.notes if "ell, swept" in note).split("grown by ")[1].split()[0])
    hull = ELL.hull()
    if form == "slices":  # no point of it is farther off than that from the hull at some time
        trail = [hull.transform(motion.at(t)[:3]) for t in np.linspace(0.0, 1.0, 600)]
        corners = envelope.vertices[np.random.default_rng(2).choice(len(envelope.vertices), 8)]
        for corner in corners:
            dot = manifold3d.Manifold.cube((2e-3,) * 3, True).translate(corner)
            assert min(dot.min_gap(solid, 1.0) for solid in trail) <= 2.0 * grown + 0.05


def test_the_engine_needs_room_where_the_sensor_is(tmp_path):
    engine = Assembly.load("data/engine/engine.glb")
    space = swept(engine, "data/engine/engine.toml", "crank_*", "slices")
    assert {part.name for part in space.parts} == {"block", "crank_*, swept", "head", "sensor"}
    report = check(space)
    assert any(c.kind == "hard" and c.b == "sensor" for c in report.clashes if c.a == "crank_*, swept")
    to_glb(report, tmp_path / "space.glb")
    saved = trimesh.load_scene(tmp_path / "space.glb").geometry["crank_*, swept"]
    reach = np.linalg.norm(saved.vertices[:, :2], axis=1).max()
    assert 0.044 <= reach <= 0.0445


def test_what_cannot_be_swept_is_told():
    cube = gk.Mesh(*gk.Box((1, 1, 1)).surface())
    parts, slide = Assembly.of({"a": cube}), Movement({"a": gk.Motion.translation(None, (1, 0, 0))})
    with pytest.raises(ParseError, match="nothing that moves is called 'b'; there are a"):
        swept(parts, slide, "b")
    with pytest.raises(ShapeError, match="expected 'slices' or 'hull'"):
        swept(parts, slide, "a", "mesh")
