"""Rotations, small vectors and fast trigonometry, for one vehicle or many at once.

A vector here is a tuple of three arrays of equal shape. Keeping the components apart lets XLA
fuse a whole step into a few loops over the vehicles, where a stacked (3, N) array would force a
copy for every cross product.
"""
