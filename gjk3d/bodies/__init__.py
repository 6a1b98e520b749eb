"""What is not convex: meshes, compounds, voxels, clouds of points, height fields; model files.

`base` is the protocol of all of them, and what two bodies answer lies here too; convex shapes are in `shapes`, the
questions that a user asks in `query`.
"""
