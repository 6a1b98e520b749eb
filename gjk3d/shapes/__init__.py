"""Shapes in their own frames: support mappings for the kernels, measures for people."""
