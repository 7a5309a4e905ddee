"""The one engine: the loop, who steers in it, who listens to it, and what leaves it."""
