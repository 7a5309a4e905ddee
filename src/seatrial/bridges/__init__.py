"""Bridges: a run that other programs hear and steer, each in a language of theirs."""
