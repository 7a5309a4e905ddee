"""A vehicle that finds its own way: missions, filters, gains and allocation from descriptions."""
