"""Questions about one or two shapes, or many pairs of them: what is asked is checked here, and answers are wrapped.

`dispatch` says how each kind of pair is answered. Kernels are in `narrow` and `bodies`, many named objects in `scene`.
"""
