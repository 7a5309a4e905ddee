"""Autopilots in the loop: ArduPilot by its JSON interface, PX4 and others by MAVLink."""
