"""Filters from descriptions: what each is told of its sensors, its sea and its vehicle."""
