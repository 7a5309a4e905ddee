"""A run, or several, as a map and diagrams over time."""
