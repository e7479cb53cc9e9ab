"""Let a database continue with another secret key or home directory."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from portal.process.installation import adopt


class Command(BaseCommand):
    help = (
        "Bind the database to this portal's secret key and home directory, if the former ones are "
        "gone for good. Stop the former portal first: jobs running in its home are then marked as "
        "lost, and secrets encrypted with its key must be entered again."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        adopt(settings.MUSTER_HOME)
        self.stdout.write(f"The database now belongs to the portal in {settings.MUSTER_HOME}.")
