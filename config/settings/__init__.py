"""Settings for local, test and production; everything that differs comes from the environment."""
