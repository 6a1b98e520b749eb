"""gjk3d: do 3D shapes touch, how far apart are they, how deep do they overlap, where, and when.

Convex shapes are in `shapes`, all others in `bodies`; questions about two are in `query`, many objects in
`scene`, assemblies of parts in `clash`, robots in `robot`, pictures in `viz`. Kernels are in `narrow`, `broad` and
`bodies`, proofs in `exact`. The names below are loaded when first used, so that importing the package is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_WHERE = {
    "Point": "shapes.polytopes",
    "Segment": "shapes.polytopes",
    "Triangle": "shapes.polytopes",
    "Tetrahedron": "shapes.polytopes",
    "Sphere": "shapes.curved",
    "Box": "shapes.polytopes",
    "Capsule": "shapes.curved",
    "Cylinder": "shapes.curved",
    "Cone": "shapes.curved",
    "Ellipsoid": "shapes.curved",
    "Halfspace": "shapes.halfspace",
    "Plane": "shapes.halfspace",
    "ConvexHull": "shapes.polytopes",
    "Rounded": "shapes.composed",
    "Composed": "shapes.composed",
    "Shape": "shapes.base",
    "collide": "query.distance",
    "distance": "query.distance",
    "signed_distance": "query.distance",
    "separating_axis": "query.distance",
    "contact": "query.contact",
    "overlap": "query.overlap",
    "penetration": "query.penetration",
    "Penetration": "query.penetration",
    "warmup": "compiling",
    "batches": "scale",
    "Pair": "query.pair",
    "MinkowskiSum": "shapes.composed",
    "ConvexUnion": "shapes.composed",
    "Swept": "query.swept",
    "Support": "shapes.mapped",
    "Pairs": "query.pair",
    "raycast": "query.raycast",
    "RayHit": "query.raycast",
    "Motion": "query.motion",
    "Impact": "query.time_of_impact",
    "ImpactStatus": "query.time_of_impact",
    "time_of_impact": "query.time_of_impact",
    "shapecast": "query.time_of_impact",
    "bounding_sphere": "query.bounding",
    "aabb": "query.bounding",
    "obb": "query.bounding",
    "AABB": "query.volumes",
    "OBB": "query.volumes",
    "BoundingSphere": "query.volumes",
    "gradient": "query.gradient",
    "Gradient": "query.gradient",
    "verify": "query.certify",
    "Verdict": "exact",
    "Axis": "results",
    "AxisKind": "results",
    "Certificate": "results",
    "Contact": "query.contact",
    "Distance": "results",
    "PartsCertificate": "results",
    "Status": "results",
    "Scene": "scene",
    "ScenePairs": "scene",
    "SceneHit": "scene",
    "Clearance": "scene",
    "Mesh": "bodies.mesh",
    "load": "files.load",
    "meeting_faces": "query.faces",
    "nearest_faces": "query.faces",
    "intersection_curve": "query.faces",
    "Compound": "bodies.compound",
    "HeightField": "bodies.heights",
    "PointCloud": "bodies.cloud",
    "Shell": "bodies.shell",
    "from_implicit": "bodies.conversions",
    "VoxelGrid": "bodies.voxels",
    "CollisionManager": "compat",
    "scene_to_collision": "compat",
}
_MODULES = ("clash", "compat", "errors", "replay", "robot", "viz")

if TYPE_CHECKING:
    from gjk3d import clash as clash
    from gjk3d import compat as compat
    from gjk3d import errors as errors
    from gjk3d import replay as replay
    from gjk3d import robot as robot
    from gjk3d import viz as viz
    from gjk3d.bodies.cloud import PointCloud as PointCloud
    from gjk3d.bodies.compound import Compound as Compound
    from gjk3d.bodies.conversions import from_implicit as from_implicit
    from gjk3d.bodies.heights import HeightField as HeightField
    from gjk3d.bodies.mesh import Mesh as Mesh
    from gjk3d.bodies.shell import Shell as Shell
    from gjk3d.bodies.voxels import VoxelGrid as VoxelGrid
    from gjk3d.compat import CollisionManager as CollisionManager
    from gjk3d.compat import scene_to_collision as scene_to_collision
    from gjk3d.compiling import warmup as warmup
    from gjk3d.exact import Verdict as Verdict
    from gjk3d.files.load import load as load
    from gjk3d.query.bounding import aabb as aabb
    from gjk3d.query.bounding import bounding_sphere as bounding_sphere
    from gjk3d.query.bounding import obb as obb
    from gjk3d.query.certify import verify as verify
    from gjk3d.query.contact import Contact as Contact
    from gjk3d.query.contact import contact as contact
    from gjk3d.query.distance import collide as collide
    from gjk3d.query.distance import distance as distance
    from gjk3d.query.distance import separating_axis as separating_axis
    from gjk3d.query.distance import signed_distance as signed_distance
    from gjk3d.query.faces import intersection_curve as intersection_curve
    from gjk3d.query.faces import meeting_faces as meeting_faces
    from gjk3d.query.faces import nearest_faces as nearest_faces
    from gjk3d.query.gradient import Gradient as Gradient
    from gjk3d.query.gradient import gradient as gradient
    from gjk3d.query.motion import Motion as Motion
    from gjk3d.query.overlap import overlap as overlap
    from gjk3d.query.pair import Pair as Pair
    from gjk3d.query.pair import Pairs as Pairs
    from gjk3d.query.penetration import Penetration as Penetration
    from gjk3d.query.penetration import penetration as penetration
    from gjk3d.query.raycast import RayHit as RayHit
    from gjk3d.query.raycast import raycast as raycast
    from gjk3d.query.swept import Swept as Swept
    from gjk3d.query.time_of_impact import Impact as Impact
    from gjk3d.query.time_of_impact import ImpactStatus as ImpactStatus
    from gjk3d.query.time_of_impact import shapecast as shapecast
    from gjk3d.query.time_of_impact import time_of_impact as time_of_impact
    from gjk3d.query.volumes import AABB as AABB
    from gjk3d.query.volumes import OBB as OBB
    from gjk3d.query.volumes import BoundingSphere as BoundingSphere
    from gjk3d.results import Axis as Axis
    from gjk3d.results import AxisKind as AxisKind
    from gjk3d.results import Certificate as Certificate
    from gjk3d.results import Distance as Distance
    from gjk3d.results import PartsCertificate as PartsCertificate
    from gjk3d.results import Status as Status
    from gjk3d.scale import batches as batches
    from gjk3d.scene import Clearance as Clearance
    from gjk3d.scene import Scene as Scene
    from gjk3d.scene import SceneHit as SceneHit
    from gjk3d.scene import ScenePairs as ScenePairs
    from gjk3d.shapes.base import Shape as Shape
    from gjk3d.shapes.composed import Composed as Composed
    from gjk3d.shapes.composed import ConvexUnion as ConvexUnion
    from gjk3d.shapes.composed import MinkowskiSum as MinkowskiSum
    from gjk3d.shapes.composed import Rounded as Rounded
    from gjk3d.shapes.curved import Capsule as Capsule
    from gjk3d.shapes.curved import Cone as Cone
    from gjk3d.shapes.curved import Cylinder as Cylinder
    from gjk3d.shapes.curved import Ellipsoid as Ellipsoid
    from gjk3d.shapes.curved import Sphere as Sphere
    from gjk3d.shapes.halfspace import Halfspace as Halfspace
    from gjk3d.shapes.halfspace import Plane as Plane
    from gjk3d.shapes.mapped import Support as Support
    from gjk3d.shapes.polytopes import Box as Box
    from gjk3d.shapes.polytopes import ConvexHull as ConvexHull
    from gjk3d.shapes.polytopes import Point as Point
    from gjk3d.shapes.polytopes import Segment as Segment
    from gjk3d.shapes.polytopes import Tetrahedron as Tetrahedron
    from gjk3d.shapes.polytopes import Triangle as Triangle


else:  # hidden from type checkers, to which it would make every name right
    __all__ = [*_WHERE, *_MODULES]

    def __getattr__(name: str) -> object:
        if name in _MODULES:
            return import_module(f"gjk3d.{name}")
        where = _WHERE.get(name)
        if where is None:
            raise AttributeError(f"module 'gjk3d' has no attribute {name!r}")
        value = getattr(import_module(f"gjk3d.{where}"), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted(["__version__", *__all__])
