"""What the tests of the page and of its sea look at."""

SCENARIO = {
    "seed": 3,
    "duration": 20.0,
    "world": "sea-state-4",
    "vehicles": [
        {
            "name": "otter",
            "vehicle": "otter",
            "start": {"speed": 1.0},
            "commands": {"left_rpm": 600, "right_rpm": 500},
        }
    ],
}
"""One vessel in a seaway, without sensors."""
