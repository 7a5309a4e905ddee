"""Speed: of steps and runs, rays, cameras, hulls and environments; `seatrial bench`."""
