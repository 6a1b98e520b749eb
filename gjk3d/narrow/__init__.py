"""Two convex shapes in, numbers out; kernels only, one algorithm a file."""
