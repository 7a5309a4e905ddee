"""Navigation: where the vehicle is, from what its sensors say."""
