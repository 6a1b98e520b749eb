"""Numbers about points: vectors, simplices, polygons, hulls, their Gauss maps and tables of directions.

Nothing here knows a shape, a pose or a pair; what is asked of two shapes is in `gjk3d.narrow`.
"""
