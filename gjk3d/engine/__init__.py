"""Common parts of queries on many pairs: the table of handlers, the stores of shapes and trees, and `Pairs`.

`dispatch` contains the handlers of each query for each pair of kinds. `pairs` contains the public class `Pairs` and its
store of packed shapes, where boxes replace bodies. `store` contains the store of the bounding volume trees of bodies.
With this store, a single kernel processes pairs of many bodies. Batches of convex pairs are in `gjk3d.convex.batch`.
"""
