"""The development commands."""
