"""Guidance, navigation and control: what runs on board, and sees signals alone."""
