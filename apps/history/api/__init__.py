"""HTTP edge of the history app."""
