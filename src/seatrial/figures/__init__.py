"""Pages of figures drawn from recordings."""
