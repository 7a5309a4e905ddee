"""Sensors that send sound or light and listen to what comes back."""
