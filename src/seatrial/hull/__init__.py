"""From a hull to numbers: hydrostatics and wave force amplitudes."""
