"""Parts on a lattice, with many coplanar faces, compared with counting their cells."""

import numpy as np
import polycubes
import pytest

import gjk3d as gk
from gjk3d.clash import Assembly, check

CLEARANCE = 0.9


@pytest.mark.full
@pytest.mark.parametrize("volumes", [True, False])
def test_lattice_parts_equal_counting_of_cells(volumes, monkeypatch):
    if not volumes:
        monkeypatch.setattr("gjk3d.bodies.solids.available", lambda: False)
    rng = np.random.default_rng(5)
    kinds = {"hard": 0, "touch": 0, "clearance": 0, None: 0}
    freed = 0
    for _ in range(150):
        a, b = (polycubes.grown(rng, rng.integers(2, 9)) for _ in range(2))
        halves = rng.integers(-4, 5, 3)
        volume, distance = polycubes.truth(a, b, halves)
        first, second = polycubes.surface(a), polycubes.surface(b, halves / 2.0)
        clashes = check(Assembly.of({"a": first, "b": second}), clearance=CLEARANCE).clashes
        clash = clashes[0] if clashes else None
        kind = clash.kind if clash else None
        kinds[kind] += 1
        if volume > 0.0:
            assert kind == "hard"
            assert clash.overlap_volume == pytest.approx(volume, rel=1e-9) or not volumes
            if clash.mtv is not None:  # the separating translation separates the parts
                moved = gk.Mesh(second.vertices + clash.mtv, second.faces)
                again = check(Assembly.of({"a": first, "b": moved}), tolerance=1e-9).clashes
                assert [row.kind for row in again] in ([], ["touch"])
                freed += 1
        elif distance == 0.0:
            assert kind == "touch"
        else:
            assert kind == ("clearance" if distance < CLEARANCE else None)
            assert clash is None or clash.distance == pytest.approx(distance, abs=1e-12)
    assert min(kinds.values()) > 5, kinds
    assert freed > 5
