"""Turns the wheel: schedules, runs, manoeuvres, and the frames they emit."""
