"""Composition root: settings, URLs, server entry points and the Celery app.  Nothing imports it."""
