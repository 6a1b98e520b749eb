"""Many shapes with names and poses: which of them touch, how close they are, what a ray meets first."""

from gjk3d.scene.results import Clearance, SceneHit, ScenePairs
from gjk3d.scene.scene import Scene

__all__ = ["Clearance", "Scene", "SceneHit", "ScenePairs"]
