"""The page in the browser: a run watched and driven live, or played back."""
