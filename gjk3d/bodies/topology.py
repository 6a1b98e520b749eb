"""Topology and accuracy of meshes.

The topology of a mesh consists of checked arrays, shared edges, and the closed surface of a mesh with a few flaws.

A surface bounds a solid if each edge is used equally often in both directions. One additional triangle, or one with the
opposite winding, would make the whole mesh hollow. Five flaws are therefore repaired, but only if that closes a
surface: copies of a corner that differ by rounding, duplicate triangles, triangles attached by one edge, triangles
wound against their neighbours, and pieces with open edges next to closed pieces.

The accuracy of triangles is their error on curved faces, and the rounding of their coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d.errors import ShapeError
from gjk3d.geometry.polygon import connected
from gjk3d.shapes.base import refuse_masked
from gjk3d.shapes.layout import in_range
from gjk3d.typing import Array, Bools, Ints

if TYPE_CHECKING:
    from gjk3d.bodies.mesh import Mesh

# --- topology --------------------------------------------------------------------------------------------------------


def checked_vertices(value: Any) -> Array:
    """Return the vertices of a mesh as a new (n, 3) float array; raise if they are not finite real numbers."""
    raw = _array(value, "vertices")
    if raw.dtype.kind not in "fiu":
        raise ShapeError(f"vertices has dtype {raw.dtype}, expected real numbers, (n, 3)")
    _rows_of_three(raw, "vertices")
    points = np.array(raw, dtype=np.float64, order="C") + 0.0  # -0.0 becomes 0.0, so equal positions have equal bits
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        bad = np.flatnonzero(~finite)
        shown = ", ".join(f"{x:g}" for x in points[bad[0]])
        raise ShapeError(
            f"vertices[{bad[0]}] is [{shown}], expected finite numbers (wrong in {len(bad)} of {len(points)} rows). "
            "Repair or remove these rows"
        )
    in_range(points, "vertices")
    return points


def checked_faces(value: Any, limit: int) -> Ints:
    """Return the faces of a mesh with ``limit`` vertices as an (m, 3) int array; raise if an index is invalid."""
    raw = _array(value, "faces")
    if raw.size and raw.dtype.kind not in "iu":
        raise ShapeError(f"faces has dtype {raw.dtype}, expected integers, the indices of three vertices in each row")
    if raw.size == 0:
        raise ShapeError("faces is empty, expected at least one triangle. Use gjk3d.ConvexHull(points) for points")
    _rows_of_three(raw, "faces")
    wrong = np.flatnonzero(((raw < 0) | (raw >= limit)).any(axis=1))
    if len(wrong):
        raise ShapeError(
            f"faces[{wrong[0]}] is {raw[wrong[0]].tolist()}, expected indices 0 to {limit - 1} for {limit} vertices "
            f"(wrong in {len(wrong)} of {len(raw)} faces). Indices start at 0"
        )
    flags = raw.flags
    if raw is value and raw.dtype == np.int64 and flags.c_contiguous and flags.owndata and not flags.writeable:
        shared: NDArray[np.int64] = raw
        return shared  # faces of another mesh, which copies of a part share
    return np.array(raw, dtype=np.int64, order="C")


def _array(value: Any, what: str) -> NDArray[Any]:
    refuse_masked(value, what)
    try:
        return np.asarray(value)
    except ValueError:
        cure = ". Use gjk3d.Mesh.from_pyvista for polygons of pyvista.PolyData" if what.endswith("faces") else ""
        raise ShapeError(f"{what} has rows of different lengths, expected an array (n, 3){cure}") from None


def _rows_of_three(raw: NDArray[Any], what: str) -> None:
    if raw.ndim != 2 or raw.shape[1] != 3:
        cure = f". Transpose it with {what}.T" if raw.ndim == 2 and raw.shape[0] == 3 else ""
        if what.endswith("faces") and raw.ndim == 2 and raw.shape[1] == 4:
            cure = ". Use gjk3d.Mesh.from_pyvista(pyvista.PolyData.from_regular_faces(vertices, faces))"
        raise ShapeError(f"{what} has shape {raw.shape}, expected (n, 3){cure}")


class Edges(NamedTuple):
    """The edges of the triangles of a mesh. Vertices at equal positions count as one vertex.

    Triangles with two corners at the same position are left out.
    """

    places: Ints  #: (n,) number of the position of each vertex
    faces: Ints  #: (k,) face numbers of the triangles that are not left out
    corners: Ints  #: (k, 3) position numbers of their corners
    numbers: Ints  #: (k, 3) number of the edge from each corner to the next
    directions: Array  #: (k, 3) 1 for a use of the edge from the lower to the higher position number, otherwise -1
    ends: Ints  #: (e, 2) position numbers of the ends of each edge

    def sums(self) -> Array:
        """Return the sum of the directions in which triangles use each edge, (e,), which is 0 for a closed surface."""
        return np.bincount(self.numbers.ravel(), self.directions.ravel(), len(self.ends)).astype(np.float64)


def edges_of(places: Ints, faces: Ints) -> Edges:
    """Return the edges of a mesh; ``places`` has the position index of each vertex (`merged_places`)."""
    corners = places[faces]
    a, b, c = corners.T
    real = np.flatnonzero((a != b) & (b != c) & (c != a))
    if len(real) < len(corners):
        corners = corners[real]
    start, stop = corners.ravel(), corners[:, [1, 2, 0]].ravel()
    # one integer for each undirected edge
    count = max(len(places), 1)
    keys, number = np.unique(np.minimum(start, stop) * count + np.maximum(start, stop), return_inverse=True)
    directions = np.where(start < stop, 1.0, -1.0)
    ends = np.column_stack([keys // count, keys % count])
    return Edges(places, real, corners, number.reshape(-1, 3), directions.reshape(-1, 3), ends)


def merged_places(vertices: NDArray[Any]) -> Ints:
    """Return a position index for each vertex. Vertices with equal coordinates have the same index."""
    order = np.lexsort(vertices.T)
    ordered = vertices[order]
    new = np.ones(len(order), dtype=np.int64)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(new) - 1
    return place


def body_numbers(places: Ints, faces: Ints) -> Ints:
    """Return for each face the index of its connected body. Bodies are numbered in the order of their first faces.

    ``places`` has the position index of each vertex (`merged_places`).
    """
    count = len(faces)  # nodes of the graph are the faces, then the positions
    return connected(np.repeat(np.arange(count), 3), count + places[faces].ravel(), count + len(places))[:count]


NONE: Ints = np.zeros(0, dtype=np.int64)
#: greatest missing area of a nearly closed surface, in units of its area
_MISSING = 0.1
#: greatest share of the area that may be attached by an edge to a closed solid
_HANGING = 0.5
#: upper limit of the rounding of corners, relative to the size of a mesh, since merging corners changes the shape
COARSE = 1e-3
#: the least volume of a solid, in units of its area to the power of 3/2, which is more than rounding of a flat solid
_FLAT = 1e-13


class Mended(NamedTuple):
    """The faults that prevent a mesh from being closed, or the repairs that close it."""

    places: Ints  #: (n,) number of the position of each vertex
    open_edges: int  #: number of open edges, but 0 if a part of the mesh is closed
    loose: int = 0  #: number of triangles of pieces with open edges
    loose_edges: int = 0  #: number of open edges of these pieces
    nearly: bool = False  #: whether only little of these pieces is missing
    repairs: tuple[str, ...] = ()
    turned: Ints = NONE  #: numbers of faces to be flipped
    spare: Ints = NONE  #: numbers of faces that do not bound the solid
    hanging: Ints = NONE  #: spare faces that are not duplicates, so that they can be touched from outside
    pieces: Ints = NONE  #: hanging faces of pieces with open edges
    crowded: bool = False  #: whether an edge of a closed mesh has more than two triangles


def largest_rounding(vertices: Array) -> float:
    """Return the upper limit of the rounding of corners, a fixed share of the longest side of the mesh's box."""
    return COARSE * float(np.ptp(vertices, axis=0).max())


def mended(vertices: Array, faces: Ints, rounding: Callable[[], float]) -> Mended:
    """Return the faults of a mesh, or the repairs that close the mesh or pieces of it.

    Copies of a corner differ by at most ``rounding()`` along any axis. ``rounding`` is called only if the mesh is open.
    """
    places = merged_places(vertices)
    work = _Work(vertices, places, faces)
    state = work.mended()
    if not state.loose:
        return state
    near = work.merged_rim(rounding())
    merged = int(places.max() - near.max())
    if not merged:
        return state
    closed = _Work(vertices, near, faces).mended()
    if closed.loose >= state.loose:
        return state
    message = _repair_text(merged, "corner", "differs from another corner by rounding and is merged with it",
                 "differ from other corners by rounding and are merged with them")  # fmt: skip
    return closed._replace(repairs=(message, *closed.repairs))


def _repair_text(count: int, noun: str, singular: str, plural: str) -> str:
    return f"1 {noun} {singular}" if count == 1 else f"{count} {noun}s {plural}"


class _Work:
    """The triangles that remain during the repairs, and their uses of edges."""

    counts: Ints  #: number of uses of each edge
    sums: Array  #: sum of the directions of these uses, see `Edges.directions`

    def __init__(self, vertices: Array, places: Ints, faces: Ints) -> None:
        self.vertices, self.faces, self.edges = vertices, faces, edges_of(places, faces)
        edges = self.edges
        self.kept: Bools = np.ones(len(edges.faces), dtype=bool)
        self.directions = edges.directions
        self._count()

    def mended(self) -> Mended:
        """Return the faults, or the repairs that close the mesh or pieces of it."""
        edges, opened = self.edges, int(np.abs(self.sums).sum())
        if not opened and self.counts.max(initial=0) < 4:
            return Mended(edges.places, 0)
        doubles = self.drop_doubles()
        # duplicates coincide with a remaining triangle, so only triangles dropped later can be touched from outside
        single = self.kept.copy()
        fins, turned = self.drop_fins(), self.turn()
        loose = self.loose()
        nearly = bool(len(loose)) and self.nearly_closed(loose)
        if len(loose) and not self._closed_volume(loose):
            return Mended(edges.places, opened, len(loose), opened, nearly)
        loose_edges = int(np.abs(self.sums).sum())
        self._drop(loose)
        turned = np.setdiff1d(turned, loose)
        repairs = (
            (doubles, "occurs more than once and is counted once", "occur more than once and are counted once"),
            (
                fins, "is attached to the closed surface by one edge, so it does not bound the solid",
                "are attached to the closed surface by one edge, so they do not bound the solid",
            ),
            (
                len(turned), "was wound against its neighbours and is flipped",
                "were wound against their neighbours and are flipped",
            ),
            (
                len(loose), "is a piece with open edges, so it does not bound the solid",
                "are in pieces with open edges, so they do not bound the solid",
            ),
        )  # fmt: skip
        messages = tuple(_repair_text(count, "triangle", *words) for count, *words in repairs if count)
        turned, spare, hanging = (edges.faces[which] for which in (turned, ~self.kept, single & ~self.kept))
        crowded = bool(self.counts.max() > 2)
        return Mended(
            edges.places, 0, len(loose), loose_edges, nearly, messages, turned, spare, hanging, edges.faces[loose],
            crowded,
        )  # fmt: skip

    def merged_rim(self, rounding: float) -> Ints:
        """Return the position index of each vertex after merging corners of open edges that are near each other."""
        places = self.edges.places
        rim = np.unique(self.edges.ends[self.edges.sums() != 0.0])
        if rounding == 0.0:
            return places
        from scipy.spatial import cKDTree

        points = self._points_of_places()
        for axis in range(3):  # only few points have a neighbour along each axis, so that the tree is small
            rim = rim[np.argsort(points[rim, axis])]
            near = np.diff(points[rim, axis], prepend=-np.inf, append=np.inf) <= rounding
            rim = rim[near[1:] | near[:-1]]
        pairs = cKDTree(points[rim]).query_pairs(rounding, p=np.inf, output_type="ndarray")
        return connected(rim[pairs[:, 0]], rim[pairs[:, 1]], int(places.max()) + 1)[places]

    def _points_of_places(self) -> Array:
        points = np.empty_like(self.vertices)
        points[self.edges.places] = self.vertices
        return points

    def _count(self) -> None:
        numbers, total = self.edges.numbers[self.kept].ravel(), len(self.edges.ends)
        self.counts = np.bincount(numbers, minlength=total)
        self.sums = np.bincount(numbers, self.directions[self.kept].ravel(), total).astype(np.float64)

    def drop_doubles(self) -> int:
        """Drop duplicate triangles, and return their number.

        If two triangles have the same corners but opposite windings, the one that does not fit its neighbours is
        dropped. The two triangles of a wall between two bodies fit, so both stay.
        """
        # an edge of a duplicate has both copies and a neighbour, or at a rim both copies in the same direction
        crowded = (self.counts >= 3) | ((self.counts == 2) & (np.abs(self.sums) == 2.0))
        some = np.flatnonzero(crowded[self.edges.numbers].all(axis=1))
        if not len(some):
            return 0
        group = merged_places(np.sort(self.edges.corners[some], axis=1))
        even = (self.directions[some] > 0.0).sum(axis=1) % 2  # two upward edges in one winding, one in the other
        first = np.unique(2 * group + even, return_index=True)[1]
        twin = np.isin(group[first], np.flatnonzero(np.bincount(group[first]) > 1))
        pairs = some[first][twin].reshape(-1, 2)
        count = self._drop(np.setdiff1d(some, some[first]))
        if len(pairs):
            count += self._drop_backs(pairs)
            count += self._drop_misfits(pairs[self.kept[pairs].all(axis=1)])
        return count

    def _drop_backs(self, pairs: Ints) -> int:
        """Drop the second triangle of each opposite pair in pieces that consist of such pairs; return the number.

        Files for renderers have such double-sided faces. A piece within the box of a piece that has other triangles
        stays, since it may be a cavity and its filling.
        """
        retained = np.flatnonzero(self.kept)
        piece = self._components(retained)
        isolated = np.bincount(piece) == np.bincount(piece[np.isin(retained, pairs)], minlength=int(piece.max()) + 1)
        if not isolated.any():
            return 0
        low, high = self._boxes(retained, piece)
        for k in np.flatnonzero(isolated):
            isolated[k] = not ((low <= low[k]) & (high >= high[k])).all(axis=1)[~isolated].any()
        return self._drop(pairs[isolated[piece[np.searchsorted(retained, pairs[:, 0])]]].max(axis=1))

    def _drop_misfits(self, pairs: Ints) -> int:
        """Drop from each pair the triangle whose edges have too many uses in its direction; return the number."""
        count, numbers = 0, self.edges.numbers
        while len(pairs):
            # the second triangle of a pair has the opposite excess
            excess = self.sums[numbers[pairs[:, 0]]] * self.directions[pairs[:, 0]]
            first_fits = (excess >= 0.0).all(axis=1) & (excess > 0.0).any(axis=1)
            second_fits = (excess <= 0.0).all(axis=1) & (excess < 0.0).any(axis=1)
            dropped = np.concatenate([pairs[first_fits, 0], pairs[second_fits, 1]])
            if not len(dropped):
                break
            self.kept[dropped] = False
            np.subtract.at(self.sums, numbers[dropped], self.directions[dropped])
            np.subtract.at(self.counts, numbers[dropped], 1)
            count, pairs = count + len(dropped), pairs[~(first_fits | second_fits)]
        return count

    def _components(self, retained: Ints) -> Ints:
        """Return the piece index of each retained triangle. Triangles with a common edge are in the same piece."""
        count, numbers = len(retained), self.edges.numbers[retained].ravel()
        return connected(np.repeat(np.arange(count), 3), count + numbers, count + len(self.edges.ends))[:count]

    def _boxes(self, retained: Ints, piece: Ints) -> tuple[Array, Array]:
        """Return the least and the greatest corner of the box of each piece."""
        corners, order = self._points(retained), np.argsort(piece, kind="stable")
        starts = np.searchsorted(piece[order], np.arange(int(piece.max()) + 1))
        low = np.minimum.reduceat(corners.min(axis=1)[order], starts)
        return low, np.maximum.reduceat(corners.max(axis=1)[order], starts)

    def _drop(self, which: Ints) -> int:
        if len(which):
            self.kept[which] = False
            self._count()
        return len(which)

    def drop_fins(self) -> int:
        """Drop pieces with an edge of only one triangle and an edge of three or more; return the number of triangles.

        Nothing is dropped if these pieces are more than half of the area of the mesh.
        """
        if not ((self.counts == 1).any() and (self.counts >= 3).any()):
            return 0
        retained = np.flatnonzero(self.kept)
        piece = self._pieces(retained)[0]
        around = self.counts[self.edges.numbers[retained]]
        free, shared = np.zeros(piece.max() + 1, dtype=bool), np.zeros(piece.max() + 1, dtype=bool)
        free[piece[(around == 1).any(axis=1)]] = True
        shared[piece[(around >= 3).any(axis=1)]] = True
        fins = retained[(free & shared)[piece]]
        areas = self._areas(retained)
        if areas[(free & shared)[piece]].sum() > _HANGING * areas.sum():
            return 0
        return self._drop(fins)

    def _pieces(self, retained: Ints) -> tuple[Ints, Ints]:
        """Return the piece index of each retained triangle, and which are wound against the first one of their piece.

        The second array has indices into ``retained``. Pieces are connected by edges of two triangles. In a graph, each
        triangle has two nodes, one for each winding. Nodes of neighbours are connected if their windings agree. A
        one-sided piece has all nodes in one component, and its triangles are not flipped.
        """
        numbers, directions = self.edges.numbers[retained].ravel(), self.directions[retained].ravel()
        shared = np.flatnonzero(self.counts[numbers] == 2)
        first, second = shared[np.argsort(numbers[shared], kind="stable")].reshape(-1, 2).T
        triangle_a, triangle_b = first // 3, second // 3
        against = (directions[first] == directions[second]).astype(np.int64)
        count = len(retained)
        label = connected(
            np.concatenate([triangle_a, triangle_a + count]),
            np.concatenate([triangle_b + count * against, triangle_b + count * (1 - against)]),
            2 * count,
        ).reshape(2, -1)
        piece = np.unique(label.min(axis=0), return_inverse=True)[1].ravel()
        return piece, np.flatnonzero(label[0] > label[1])

    def turn(self) -> Ints:
        """Flip triangles wound against their neighbours, and return the indices of the flipped triangles.

        In a piece with both windings, the triangles of the winding with the smaller area are flipped. If this piece is
        not within the box of another piece, it is not a cavity, so it is flipped to a positive volume.
        """
        if not ((self.counts == 2) & (self.sums != 0.0)).any():
            return NONE
        retained = np.flatnonzero(self.kept)
        piece, some = self._pieces(retained)
        turned = np.zeros(len(retained), dtype=bool)
        turned[some] = True
        areas = self._areas(retained)
        mixed = np.zeros(piece.max() + 1, dtype=bool)
        mixed[piece[some]] = True
        share = np.bincount(piece, weights=np.where(turned, areas, -areas))
        agreeing = np.bincount(piece) == np.bincount(piece, weights=turned)
        mixed &= ~agreeing
        turned &= mixed[piece]
        sign = np.where(turned, -1.0, 1.0)
        sign[(mixed & (share > 0.0))[piece]] *= -1.0
        sign *= self._outward(retained, piece, sign, mixed)[piece]
        reversed_faces = retained[sign < 0.0]
        self.directions = self.directions.copy()
        self.directions[reversed_faces] *= -1.0
        self._count()
        return reversed_faces

    def _outward(self, retained: Ints, piece: Ints, sign: Array, mixed: Bools) -> Array:
        """Return for each piece -1 if it is ``mixed``, of negative volume and in no other piece's box, otherwise 1.

        A mixed piece has triangles of both windings. ``sign`` is -1 for a triangle that is to be flipped, otherwise 1.
        """
        volumes = self._volumes(retained) * sign
        low, high = self._boxes(retained, piece)
        out = np.ones(len(mixed))
        for k in np.flatnonzero(mixed & (np.bincount(piece, weights=volumes) < 0.0)):
            holders = ((low <= low[k]) & (high >= high[k])).all(axis=1)
            if holders.sum() == 1:
                out[k] = -1.0
        return out

    def _points(self, which: Ints) -> Array:
        return self.vertices[self.faces[self.edges.faces[which]]]

    def _areas(self, which: Ints) -> Array:
        v = self._points(which)
        n = np.cross(v[:, 1] - v[:, 0], v[:, 2] - v[:, 0])
        areas: Array = 0.5 * np.sqrt(np.einsum("ij,ij->i", n, n))
        return areas

    def _volumes(self, which: Ints) -> Array:
        """Return for each triangle the signed volume of its tetrahedron with the mean of all corners."""
        corners = self._points(which)
        corners = corners - corners.mean(axis=(0, 1))
        volumes: Array = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
        return volumes

    def _closed_volume(self, loose: Ints) -> bool:
        """Return whether the mesh without the triangles ``loose`` bounds a volume larger than rounding."""
        some = self.kept.copy()
        some[loose] = False
        closed = np.flatnonzero(some)
        if not len(closed):
            return False
        # a flipped triangle has a volume of the opposite sign
        turned = np.where((self.directions == self.edges.directions).all(axis=1), 1.0, -1.0)[closed]
        return bool(abs((self._volumes(closed) * turned).sum()) > _FLAT * self._areas(closed).sum() ** 1.5)

    def loose(self) -> Ints:
        """Return the triangles of pieces with open edges."""
        retained = np.flatnonzero(self.kept)
        if not self.sums.any():
            return NONE
        numbers, piece = self.edges.numbers[retained], self._components(retained)
        opened = np.zeros(len(retained), dtype=bool)
        opened[piece[(self.sums != 0.0)[numbers].any(axis=1)]] = True
        return retained[opened[piece]]

    def nearly_closed(self, loose: Ints) -> bool:
        """Return whether fans of triangles that fill the holes have a small area compared with the open pieces.

        The result is true for a part with a hole and false for a sheet. It does not depend on the size of triangles.
        """
        rim = self.edges.ends[self.counts == 1]
        joined = connected(rim[:, 0], rim[:, 1], len(self.vertices))[rim[:, 0]]
        hole = np.unique(joined, return_inverse=True)[1].ravel()
        ends = self._points_of_places()[rim]
        count = np.bincount(hole)
        middle = np.column_stack([np.bincount(hole, weights=x) / count for x in ends.mean(axis=1).T])
        spokes = ends - middle[hole][:, None]
        missing = 0.5 * np.linalg.norm(np.cross(spokes[:, 0], spokes[:, 1]), axis=1).sum()
        return bool(missing < _MISSING * self._areas(loose).sum())


# --- accuracy --------------------------------------------------------------------------------------------------------


#: Greatest angle at an edge of a curved surface. Sharper edges are edges of the part.
_SMOOTH = np.radians(30.0)
#: Upper limit of a chord error, relative to the size of its mesh.
STEEPEST = float(np.tan(_SMOOTH / 4.0) / 2.0)
_FLAT_ANGLE = 1e-4  #: greatest angle at an edge inside a plane, in radians


def chord_error(mesh: Mesh) -> float:
    """Return the estimated distance of the triangles from the curved faces that they approximate, 0 if all are flat.

    A circle is at most c * tan(t / 4) / 2 away from its chord of length c if consecutive chords differ by the angle t.
    At each smooth edge of two triangles, the chord is orthogonal to the edge, and its length is the smaller of the
    heights of both triangles over the edge. The edge itself may be as long as the part, such as on a cylinder. The
    estimate is not a bound: for evenly triangulated spheres the error is 2.7 times as large.
    """
    return float(mesh._cached("chord error", lambda: _chord_error(mesh)))


def _chord_error(mesh: Mesh) -> float:
    edges = edges_of(mesh._places, mesh.faces)
    number = edges.numbers.ravel()
    order = np.argsort(number, kind="stable")
    counts = np.bincount(number, minlength=len(edges.ends))
    shared = np.repeat(counts == 2, counts)
    sides = order[shared].reshape(-1, 2)
    corners = mesh.vertices[mesh.faces[edges.faces]]
    along = corners[:, [1, 2, 0]] - corners
    normals = np.cross(along[:, 0], along[:, 1])
    twice = np.sqrt(np.einsum("ij,ij->i", normals, normals))
    lengths = np.sqrt(np.einsum("ijk,ijk->ij", along, along)).ravel()
    with np.errstate(divide="ignore", invalid="ignore"):
        heights = np.repeat(twice, 3) / lengths
        normals = normals / twice[:, None]
    across = normals[sides[:, 0] // 3] - normals[sides[:, 1] // 3]
    angles = 2.0 * np.arcsin(np.minimum(0.5 * np.sqrt(np.einsum("ij,ij->i", across, across)), 1.0))
    smooth = (angles > _FLAT_ANGLE) & (angles < _SMOOTH)
    errors = heights[sides[smooth]].min(axis=1) * np.tan(angles[smooth] / 4.0) / 2.0
    return float(errors.max(initial=0.0))


#: Greatest difference of copies of a corner in spacings of float32, since each is rounded after a separate transform.
COPIES = 8.0
_TEXT_COPIES = 3.0  #: greatest difference of copies of a corner in units of the last digit of text, rounded once
_SAMPLES = 64  #: number of sampled coordinates along each axis
#: limits of the number of decimal digits: numbers of up to _FEW digits are not taken as rounded text, numbers of up to
#: _EXACT digits as exact, and numbers of up to _TEXT digits as float32 numbers in text
_FEW, _EXACT, _TEXT = 3, 5, 9
_INTEGRAL = 1e-5  #: error of a decimal in units of its last digit, by the rounding of float64


def corner_rounding(points: Array) -> float:
    """Return an estimate of the greatest difference of a coordinate between separately rounded copies of a corner."""
    rows = _sample(points)
    single, digits, unit, _ = _units(rows)
    text = (digits > _FEW) & (digits <= _TEXT)
    if not _are_integral(rows / unit[:, None]).all():  # smaller numbers have more digits, so short numbers are exact
        text &= digits > _EXACT
    return float(max(COPIES * single.max(initial=0.0), _TEXT_COPIES * unit[text].max(initial=0.0)))


def file_spacing(points: Array) -> float:
    """Return the greatest float32 spacing of the coordinates of points, (n, 3), or 0 if not rounded to float32."""
    return float(spacings(_sample(points)).max(initial=0.0))


def spacings(rows: Array) -> Array:
    """Return the float32 spacing at the largest number of each row, or 0 for rows that were not rounded to float32.

    Numbers of few digits are exact. Numbers that float32 cannot represent were not rounded to it, unless they are
    decimal text with at most as many digits as float32.
    """
    single, digits, _, in_float32 = _units(rows)
    return np.where((digits > _EXACT) & ((digits <= _TEXT) | in_float32), single, 0.0)


def stretch(linear: Array) -> Array:
    """Return the greatest length to which each matrix, (..., 3, 3), maps a unit vector along a coordinate axis."""
    most: Array = np.sqrt((linear * linear).sum(axis=-2)).max(axis=-1)
    return most


def _sample(points: Array) -> Array:
    """Return absolute coordinates along each axis, (3, k): some of the largest, and a sample of all."""
    if len(points) <= _SAMPLES:
        return np.abs(points).T
    coordinates = np.zeros((3, 2, _SAMPLES))
    for rows, sizes in zip(coordinates, np.abs(points).T, strict=True):
        for row, some in zip(rows, (sizes[sizes >= 0.1 * sizes.max()], sizes), strict=True):
            if len(some):
                row[:] = some[np.linspace(0, len(some) - 1, _SAMPLES).astype(np.int64)]
    return coordinates.reshape(3, -1)


def _are_integral(numbers: Array) -> Bools:
    return np.abs(numbers - np.rint(numbers)) < _INTEGRAL


def _units(rows: Array) -> tuple[Array, Ints, Array, Bools]:
    """Return four arrays with an item for each row of numbers.

    They are the float32 spacing, the number of decimal digits, the unit of the last digit, and whether the numbers are
    exact in float32. Only numbers with as many digits before the decimal point as the largest of a row are used, since
    text may have more digits after the decimal point of smaller numbers. Digits beyond float32 are not counted.
    """
    sizes = np.abs(np.where(np.isfinite(rows), rows, 0.0))
    most = sizes.max(axis=1, initial=0.0)
    power = np.floor(np.log10(np.where(most > 0.0, most, 1.0)))
    small = sizes < (10.0**power)[:, None]
    single = np.where(most > 0.0, np.ldexp(1.0, np.frexp(most)[1] - 24), 0.0)
    counts = np.arange(_FEW, _TEXT + 1)[:, None]
    enough = (_are_integral(sizes / (10.0 ** (power + 1 - counts))[:, :, None]) | small).all(axis=2)
    digits = np.where(enough.any(axis=0), _FEW + enough.argmax(axis=0), _TEXT + 1)
    bits = np.ascontiguousarray(sizes).view(np.uint64) << np.uint64(35)  # float32 has 29 fewer bits
    return single, digits, 10.0 ** (power + 1 - digits), ((bits == 0) | small).all(axis=1)
