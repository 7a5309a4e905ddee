"""Buoyancy of a sphere by triangles and by cubes, beside a published study."""
