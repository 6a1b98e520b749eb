"""Warp's kernel for signed distances, in its own file because warp reads the source."""

import warp as wp


@wp.kernel
def signed(mesh: wp.uint64, points: wp.array(dtype=wp.vec3), distances: wp.array(dtype=float)):
    """Write the signed distance of each point."""
    k = wp.tid()
    q = wp.mesh_query_point_sign_normal(mesh, points[k], 1.0e6)
    distances[k] = q.sign * wp.length(wp.mesh_eval_position(mesh, q.face, q.u, q.v) - points[k])
