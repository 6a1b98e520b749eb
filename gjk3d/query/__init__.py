"""Questions about one or two shapes, or many pairs of them: what is asked is checked here, and answers are wrapped.

A question is a file here and a line in ``gjk3d/__init__.py``; those about distances and touching go through `ask`, and
`dispatch` says how each two kinds are answered. `certify` makes the certificates that `exact` judges, `wording` puts
answers into words, and motions, bounding volumes and the `difference` of a pair are here too. Kernels are in `narrow`
and `bodies`, many named objects in `scene`.
"""
