"""What is compiled: the loop of one control period, all that is in it, and its two programs."""
