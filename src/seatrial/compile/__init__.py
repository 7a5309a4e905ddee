"""From descriptions to arrays: the only room that knows both."""
