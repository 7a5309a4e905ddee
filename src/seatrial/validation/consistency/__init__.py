"""Whether filters err by as much as they say, on every set of sensors of the library."""
