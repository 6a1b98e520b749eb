"""Numbers about points: vectors, simplices, polygons, hulls, their Gauss maps and tables of directions.

This subpackage does not use shapes, poses or pairs. Queries on two shapes are in `gjk3d.narrow`.
"""
