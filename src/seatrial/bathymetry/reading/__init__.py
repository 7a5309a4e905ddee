"""Formats of survey files, a file each, and what they have in common: headers and units."""
