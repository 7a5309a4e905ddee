"""Sensor descriptions to sensors, a file per family."""
