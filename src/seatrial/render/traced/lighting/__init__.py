"""Where light comes from: lamps, sun and sky, under ripples and waves."""
