"""What finds its place by radio."""
