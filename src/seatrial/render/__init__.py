"""The scene drawn: lenses, air and water as light sees them, surfaces shaded or path traced."""
