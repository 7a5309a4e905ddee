"""What is typed to measure speed and to reproduce published results."""
