"""Routes of events and webhook endpoints."""
