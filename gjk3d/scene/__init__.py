"""Many objects with names and poses in one query: collisions, clearance, and the first hit of a ray.

`scene` has the public class, and `objects` stores names, shapes, poses and groups. `query` runs every query about
pairs: it searches the pairs, solves them, and returns the results. `pairs` has the compiled search, which also solves
pairs of convex shapes. `gjk3d.engine.pairs` solves the other pairs. `coherence` caches data of the last query, and
`rays` casts rays. Trees of boxes are in `gjk3d.broad`. Assemblies are in `gjk3d.clash`.
"""

from gjk3d.scene.query import Clearance, SceneHit, ScenePairs
from gjk3d.scene.scene import Scene

__all__ = ["Clearance", "Scene", "SceneHit", "ScenePairs"]
