"""Typed descriptions of vehicles, worlds and scenarios. Knows nothing of arrays or physics."""
