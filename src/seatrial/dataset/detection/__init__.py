"""Pictures for detectors: buoys, vessels and markers in seas and weathers drawn at random."""
