"""Compiled code: the decorators of kernels, the builder and its cache, calls from CPython, and the user's functions.

The kernels themselves are next to their subject, in `geometry`, `shapes`, `narrow`, `broad` and `bodies`.
"""
