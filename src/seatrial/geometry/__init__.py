"""Shapes of what is in the water and under it: height grids, meshes, bodies, rays."""
