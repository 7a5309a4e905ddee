"""Path-traced pictures, by Mitsuba 3 (extra `pictures`): water that scatters, lamps, sun, sky."""
