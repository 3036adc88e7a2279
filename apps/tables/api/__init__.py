"""HTTP edge of the tables."""
