"""Queries on one shape, two shapes or many pairs: this package checks the arguments and wraps the results.

Each file has a group of queries, and ``gjk3d/__init__.pyi`` lists their names. `gjk3d.engine.dispatch` has the table of
all queries, with a row for each query and a column for each pair of kinds. Collision and distance queries at single
poses run in `single`. `pair` runs them at stacks of poses, and for everything that `single` does not support. `certify`
makes the certificates that `gjk3d.exact` verifies, and `wording` formats results as text. Kernels are in
`gjk3d.narrow` and `gjk3d.bodies`.
"""
