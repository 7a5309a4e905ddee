"""What leaves a run: blocks gathered for the sinks, and what they add up to."""
