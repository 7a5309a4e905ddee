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
MISSIONS = {*WAYPOINT_RUNS, "wamv-velocity"}
