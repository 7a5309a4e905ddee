"""What passes between the loop and those outside it: orders in, samples out."""
