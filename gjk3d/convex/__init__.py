"""Convex shapes between Python and the kernels: checks, packing, and batches of many poses or many pairs.

The kernels are in `narrow`. Non-convex bodies are in `bodies`, which uses this package. The public queries are in
`query`.
"""
