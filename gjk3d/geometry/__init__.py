"""Numbers about points: vectors, simplices, polygons, hulls and their graphs.

Nothing here knows a shape, a pose or a pair; what is asked of two shapes is in `gjk3d.narrow`.
"""
