"""Cards of hulls: published numbers of library vehicles beside those of their hulls."""
