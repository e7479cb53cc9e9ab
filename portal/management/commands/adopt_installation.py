"""manage.py adopt_installation: a database goes on with another secret key, or another home."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from portal.process.installation import adopt


class Command(BaseCommand):
    help = (
        "Record the secret key and the home of this portal as those of its database, when the former ones are gone for good. Stop the "
        "former portal first: jobs that run in its home are then taken for lost, and what was encrypted with its key must be entered again."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        adopt(settings.MUSTER_HOME)
        self.stdout.write(f"The database now belongs to the portal in {settings.MUSTER_HOME}.")
