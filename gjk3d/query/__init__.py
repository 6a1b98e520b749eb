"""Queries on one shape, two shapes or many pairs: this package checks the arguments and wraps the results.

Each query has a file here and a line in ``gjk3d/__init__.pyi``. `gjk3d.engine.dispatch` has the table of all queries,
with a row for each query and a column for each pair of kinds. A collision or distance query of single poses runs in
`single`; `pair` solves stacks and everything else. `certify` makes the certificates that `exact` verifies, and
`wording` formats results as text. Motions and bounding volumes are here too.
Kernels are in `narrow` and `bodies`. `scene` has many named objects.
"""
