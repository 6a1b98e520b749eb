"""Many objects with names and poses, asked about all at once: which touch, how close they are, what a ray meets first.

`scene` has the public class, `objects` what is in it, `candidates` the pairs whose boxes meet, `narrow` their answers.
Trees of boxes are in `broad`, answers for one pair in `query`, parts of assemblies in `clash`.
"""

from gjk3d.scene.results import Clearance, SceneHit, ScenePairs
from gjk3d.scene.scene import Scene

__all__ = ["Clearance", "Scene", "SceneHit", "ScenePairs"]
