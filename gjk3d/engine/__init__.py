"""The parts that queries on many pairs share: the table of handlers, the stores of shapes and trees, and `Pairs`.

`dispatch` has the handlers of each query for each pair of kinds. `pairs` packs shapes, with boxes in place of bodies,
and has the public class that uses them. `store` contains a head of the tree of each body, so that one kernel can work
on pairs of many bodies, and the test of one pair. Batches of convex pairs are in `gjk3d.convex.batch`.
"""
