"""Frames of a dataset: who draws them, what files they become, and what is seen in them."""
