"""The picture that a marine radar draws."""
