"""Functions of points: vectors, simplices, polygons, hulls with their Gauss maps, and tables of directions.

This subpackage does not use shapes, poses or pairs. Queries on two shapes are in `gjk3d.narrow`.
"""
