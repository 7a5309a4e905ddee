"""Random missions of every library vehicle, in calm and in seas."""
