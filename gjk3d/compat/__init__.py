"""Interfaces of other libraries, so that their scripts run after a change of the import.

The only such interface is the manager of `trimesh.collision`. `manager` has the methods and the queries. gjk3d's
own interface to many objects is `scene`.
"""

from __future__ import annotations

from typing import Any

from gjk3d.compat.manager import CollisionManager
from gjk3d.compat.objects import CollisionObject, ContactData, DistanceData

__all__ = ["CollisionManager", "CollisionObject", "ContactData", "DistanceData", "scene_to_collision"]


def scene_to_collision(scene: Any) -> tuple[CollisionManager, dict[str, CollisionObject]]:
    """Return a manager of all meshes of a scene of trimesh, as `trimesh.collision.scene_to_collision` does.

    Parameters
    ----------
    scene : trimesh.Scene
        A scene whose graph places meshes.

    Returns
    -------
    manager : CollisionManager
        A manager with an object for each node that has a mesh, under the node's name. Scale factors in the graph are
        applied to the meshes.
    objects : dict
        The return value of ``add_object`` for each node.

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
