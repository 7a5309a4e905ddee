"""Sensors that tell who else is about."""
