"""What is not convex: meshes, compounds, voxels, points with a radius, height fields; reading files, making them.

How two of them are asked about lies here too; the questions themselves are in `query`.
"""
