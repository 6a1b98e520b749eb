"""Pairs of a non-convex body and anything else inside compiled loops: trees by address, and one function for a pair.

`store` holds a head of each tree, so that one kernel can work on pairs of many bodies. `pair` tests one pair.
"""
