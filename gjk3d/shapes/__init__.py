"""Convex shapes in their own frames: their classes, their layout for the kernels, their measures and surfaces.

`base` has the common interface, `table` lists all shapes, and `layout` defines their data for the kernels.
Shapes have neither pose nor color. Non-convex bodies are in `bodies`, and queries are in `query`.
"""
