"""Sensors that look: rays of light through air and water."""
