"""The interface of `trimesh.collision`, so that scripts for trimesh run after a change of the import.

`manager` has the class `CollisionManager` and its queries. `objects` has the objects of a manager and the data of
results. `gjk3d.scene` is gjk3d's own interface to many objects.
"""

from __future__ import annotations

from typing import Any

from gjk3d.compat.manager import CollisionManager
from gjk3d.compat.objects import CollisionObject, ContactData, DistanceData

__all__ = ["CollisionManager", "CollisionObject", "ContactData", "DistanceData", "scene_to_collision"]


def scene_to_collision(scene: Any) -> tuple[CollisionManager, dict[str, CollisionObject]]:
    """Return a manager with all meshes of a trimesh scene, as `trimesh.collision.scene_to_collision` does.

    Parameters
    ----------
    scene : trimesh.Scene
        The scene.

    Returns
    -------
    manager : CollisionManager
        A manager with an object for each node of the scene's graph that has a mesh. The object has the name of the
        node. Scale factors in the graph are applied to the meshes.
    objects : dict
        The `CollisionObject` of each node, by the name of the node.

    Examples
    --------
    >>> import gjk3d as gk, trimesh
    >>> scene = trimesh.Scene({"a": trimesh.creation.box(), "b": trimesh.creation.icosphere()})
    >>> manager, objects = gk.scene_to_collision(scene)
    >>> manager.in_collision_internal(return_names=True), sorted(objects)
    ((True, {('a', 'b')}), ['a', 'b'])
    """
    manager = CollisionManager()
    objects = {}
    for node in scene.graph.nodes_geometry:
        transform, geometry = scene.graph[node]
        objects[node] = manager.add_object(node, scene.geometry[geometry], transform)
    return manager, objects


def __dir__() -> list[str]:
    return sorted(__all__)
