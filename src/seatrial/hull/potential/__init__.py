"""Linear waves and a hull: radiation and diffraction by a boundary-element solution."""
