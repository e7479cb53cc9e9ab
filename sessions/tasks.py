"""Celery tasks for server mode; the ticker runs the same functions in embedded mode."""

from __future__ import annotations

from celery import shared_task

from sessions import activity

SCHEDULE = {"sessions.ask_apps": 60.0}  # seconds between two runs


@shared_task(name="sessions.ask_apps")
def ask_apps() -> None:
    """Ask apps of sessions whether they compute, for the idle rules."""
    activity.ask_apps()
