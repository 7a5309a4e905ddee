"""Sonars that draw: imaging, mechanical scanning, side-scan, multibeam."""
