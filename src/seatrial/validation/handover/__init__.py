"""Handing over from waypoint to waypoint, as in a thesis of 2021."""
