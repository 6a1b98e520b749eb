"""Many objects with names and poses in one query: collisions, clearance, and the first hit of a ray.

`scene` has the public class, and `objects` its contents. `query` runs every query: it searches the pairs, solves them,
and wraps the results. `pairs` has the compiled search, which also solves convex pairs. `gjk3d.engine.pairs`
solves the other pairs. `coherence` caches the last step, and `rays` casts rays. Trees of boxes are in `broad`.
Assemblies are in `clash`.
"""

from gjk3d.scene.query import Clearance, SceneHit, ScenePairs
from gjk3d.scene.scene import Scene

__all__ = ["Clearance", "Scene", "SceneHit", "ScenePairs"]
