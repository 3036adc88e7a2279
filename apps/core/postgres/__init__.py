"""Django's PostgreSQL back end with a cheaper look at whether a lasting connection is alive."""
