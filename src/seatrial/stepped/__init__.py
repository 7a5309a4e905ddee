"""Runs that are stepped from the host, so that Python may decide in every control period."""
