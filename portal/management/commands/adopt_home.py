"""Use a copied home instead of the one that it was copied from."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from portal.process.home_place import adopt
from portal.process.words import Refusal


class Command(BaseCommand):
    help = (
        "Use this copy of a home (MUSTER_HOME) from now on. The one that it was copied from does "
        "not start again, as both would submit the queued jobs."
    )
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            adopt(settings.MUSTER_HOME)
        except Refusal as refusal:
            raise CommandError(str(refusal)) from None
        self.stdout.write(f"The portal now belongs to {settings.MUSTER_HOME}.")
