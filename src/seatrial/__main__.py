"""`python -m seatrial` is the command `seatrial`."""

from seatrial.cli import main

main()
