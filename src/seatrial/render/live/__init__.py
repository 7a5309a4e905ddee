"""Pictures drawn by casting a few rays for every pixel, fast enough for a run that goes on."""
