"""Pictures, measurements and truth of a run in folders that other people's programs read."""
