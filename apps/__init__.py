"""Sealdeck's applications; docs/architecture.md says what each may know."""
