"""Scenarios of the library in which a vehicle carries out a mission; `test_missions` runs them."""

WAYPOINT_RUNS = (
    "sookshma-waypoints",
    "sookshma-waypoints-sea",
    "otter-survey",
    "remus100-survey",
    "wamv-dock",
    "bluerov2-station",
    "otter-crossing",
)
ENCOUNTERS = ("otters-head-on", "otters-crossing", "otters-overtaking", "otters-channel")
"""Which `test_encounters` runs."""
MISSIONS = {*WAYPOINT_RUNS, *ENCOUNTERS, "wamv-velocity", "remus100_x-dive", "sf30k-station"}
