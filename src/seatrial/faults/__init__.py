"""Faults: when they set in, and what each does to a sensor, an actuator, the hull or a link."""
