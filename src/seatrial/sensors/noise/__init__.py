"""Random numbers, the random processes that sensor errors are made of, and their analysis."""
