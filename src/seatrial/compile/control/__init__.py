"""Controllers of the user's own: called each period, or compiled into the loop."""
