"""Depth of bodies that overlap: the minimum translation that separates two bodies, and the depth of their surfaces."""
