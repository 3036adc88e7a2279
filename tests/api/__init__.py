"""The API as its document tells of it."""
