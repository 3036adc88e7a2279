"""Celery tasks of the tables: one tick, harmless at any time and in any number."""

from celery import shared_task

from apps.tables import sweeper


@shared_task(name="tables.sweep", ignore_result=True)
def sweep() -> None:
    """Let due deadlines happen."""
    sweeper.sweep()
