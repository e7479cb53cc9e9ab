"""manage.py sync_directory SLUG [--dry-run] [--accept]"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from portal.core.errors import PortalError
from workspaces.identity.directory_sync import sync_provider
from workspaces.models import DirectoryRun, Provider
from workspaces.organizations.bootstrap import PLATFORM


class Command(BaseCommand):
    help = (
        "Sync users, teams and roles from a directory. Exits with 1 if the changes need to "
        "be accepted first."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument(
            "--dry-run", action="store_true", help="print changes without applying them"
        )
        parser.add_argument(
            "--accept", action="store_true", help="accept the changes that the last run stopped at"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        provider = Provider.objects.select_related("org").filter(slug=options["slug"]).first()
        if provider is None:
            raise CommandError(f"There is no directory {options['slug']!r}.")
        stopped = (
            DirectoryRun.objects.filter(provider=provider)
            .exclude(outcome=DirectoryRun.Outcome.DRY)
            .order_by("-started_at")
            .first()
        )
        accepted = (
            stopped
            if options["accept"] and stopped and stopped.outcome == DirectoryRun.Outcome.STOPPED
            else None
        )
        try:
            run = sync_provider(
                actor=PLATFORM, provider=provider, is_dry=options["dry_run"], accepted=accepted
            )
        except PortalError as error:
            raise CommandError(error.message) from error
        for line in run.lines:
            self.stdout.write(f"{line['kind']:8} {line['who']}: {line['what']}")
        self.stdout.write(
            f"{run.outcome}: "
            + ", ".join(f"{count:,} {name}" for name, count in run.counts.items())
        )
        if run.message:
            raise CommandError(run.message)
