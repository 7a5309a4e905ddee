"""What is typed about a recording: look into it, draw it, turn it into other files."""
