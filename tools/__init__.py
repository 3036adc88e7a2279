"""Development commands behind the Makefile: set up, services, run, check.  No product code imports this package."""
