"""Sealdeck's applications; docs/developers/architecture.md says what each may know."""
