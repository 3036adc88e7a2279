"""HTTP edge that every app shares: problems, parsers, base views."""
