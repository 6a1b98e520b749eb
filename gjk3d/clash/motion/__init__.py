"""Assemblies that move: ways of parts, joints and loops, and what every pair of parts does over time."""
