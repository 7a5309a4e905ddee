"""Missions that are checked before they sail."""
