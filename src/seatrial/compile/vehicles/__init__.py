"""One vehicle from its description: hull, forces, actuators, and checks of its numbers."""
