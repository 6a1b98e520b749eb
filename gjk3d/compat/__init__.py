"""What other libraries call it: the same work under their names, so that scripts go on with another import."""

from gjk3d.compat.answers import ContactData, DistanceData
from gjk3d.compat.manager import CollisionManager, scene_to_collision
from gjk3d.compat.objects import CollisionObject

__all__ = ["CollisionManager", "CollisionObject", "ContactData", "DistanceData", "scene_to_collision"]
