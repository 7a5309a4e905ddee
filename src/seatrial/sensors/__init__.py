"""Sensors: what a vehicle can know of itself and of the sea, with the errors of the real ones.

A file per sensor. Each is a small pure function of what can be seen at an instant, of its own
memory (a drifting bias, a discharged battery) and of random numbers from a stream of its own.
"""
