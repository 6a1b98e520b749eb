"""Convex shapes in their own frames: what users build, what the kernels see of it, its measures and its surface.

`base` says what every shape can do, `table` lists them all, `layout` and `terms` tell how they go to the kernels. No
pose and no color is here. What is not convex is in `bodies`; questions are in `query`.
"""
