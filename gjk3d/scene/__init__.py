"""Many objects with names and poses in one query: collisions, clearance, and the first hit of a ray.

`scene` has the public class, and `objects` its contents. `narrow` finds candidate pairs and solves them. `quick` and
`walk` solve scenes of convex objects in one compiled call, `memory` caches the last step, and `rays` casts rays. Trees
of boxes are in `broad`, queries for one pair in `query`, and parts of assemblies in `clash`.
"""

from gjk3d.scene.results import Clearance, SceneHit, ScenePairs
from gjk3d.scene.scene import Scene

__all__ = ["Clearance", "Scene", "SceneHit", "ScenePairs"]
