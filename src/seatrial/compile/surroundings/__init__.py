"""The world around the vehicles: ocean, bottom, bodies, and what may touch."""
