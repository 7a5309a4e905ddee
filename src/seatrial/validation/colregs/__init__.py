"""Two vessels meet: whether avoidance keeps to the collision regulations."""
