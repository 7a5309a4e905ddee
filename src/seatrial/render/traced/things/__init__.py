"""What light may meet: meshes, what their surfaces look like, and marine snow."""
