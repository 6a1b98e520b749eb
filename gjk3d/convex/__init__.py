"""Convex shapes between Python and the kernels: checks, packing, and results for a pair, many poses and many pairs.

The kernels are in `narrow`. Non-convex bodies are in `bodies`, which uses this package. The public queries are in
`query`.
"""
