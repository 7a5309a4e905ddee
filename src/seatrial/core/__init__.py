"""The one physics: `step(model, ocean, state, command, t, dt)` and what it is made of."""
