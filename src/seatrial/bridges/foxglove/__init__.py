"""Foxglove's WebSocket protocol, version 1."""
