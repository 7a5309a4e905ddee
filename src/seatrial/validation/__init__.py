"""Studies that set seatrial beside published results, each run by one command."""
