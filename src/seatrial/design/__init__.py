"""Designs what compile only translates: autopilots from a model, by linearisation and margins."""
