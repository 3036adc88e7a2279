"""Celery tasks of the tables: one watch, harmless at any time and in any number."""

from celery import shared_task

from apps.core.ticks import Watch
from apps.tables import sweeper


@shared_task(name="tables.sweep", base=Watch, ignore_result=True, pause_s=0.1)
def sweep() -> None:
    """Let due deadlines happen."""
    sweeper.sweep()
