"""Vehicles as environments for agents that learn: pure functions, as many vessels as wanted."""
