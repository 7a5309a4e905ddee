"""Bottoms of the sea: read from survey files, put onto grids, kept as maps, or made up."""
