"""manage.py fsck: check that what versions of datasets and checkpoints name is stored."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from datasets.checking import check_repository, unreferenced_files
from datasets.models import Repository
from portal.core.formatting import bytes_text
from workspaces.models import Organization
from workspaces.tenancy.scope import org_scope

_MOST_SHOWN = 50  # faults of a repository


class Command(BaseCommand):
    help = (
        "Check datasets and checkpoints: the blocks of every version decode, every file that they "
        "name is stored with the right size, with --deep with the right SHA-256, and counts agree. "
        "Reports what nothing refers to; deletes nothing. Exit status: 0 valid, 1 usage error, 2 "
        "faults."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--org", help="slug of an organization; default: all")
        parser.add_argument("--repository", help="name of a dataset or checkpoint; default: all")
        parser.add_argument("--deep", action="store_true", help="read all bytes and hash them")

    def handle(self, *args: Any, org: str | None = None, **options: Any) -> None:
        rows = Organization.objects.order_by("slug")
        found = list(rows.filter(slug=org) if org else rows)
        if org and not found:
            raise CommandError(f"There is no organization {org!r}.")
        faults = 0
        for row in found:
            with org_scope(row.id):
                faults += self._check(row, options["repository"], is_deep=options["deep"])
        if faults:
            sys.exit(2)

    def _check(self, org: Organization, name: str | None, *, is_deep: bool) -> int:
        rows = Repository.objects.select_related("team").order_by("kind", "name", "id")
        faults = 0
        for row in rows.filter(name=name) if name else rows:
            checked = check_repository(row, is_deep=is_deep)
            faults += len(checked.faults)
            self._report(f"{org.slug}/{row.kind}s/{row.name}", checked)
        if not name:
            files = unreferenced_files(org.id)
            if files.files:
                self.stdout.write(
                    f"{org.slug}: {files.files:,} files ({bytes_text(files.file_bytes)}) that "
                    "nothing refers to"
                )
        return faults

    def _report(self, name: str, checked: Any) -> None:
        style = self.style.ERROR if checked.faults else self.style.SUCCESS
        words = f"{len(checked.faults):,} faults" if checked.faults else "valid"
        self.stdout.write(
            style(
                f"{name}: {words}; {checked.versions:,} versions, {checked.files:,} files, "
                f"{bytes_text(checked.bytes)}"
            )
        )
        for fault in checked.faults[:_MOST_SHOWN]:
            self.stdout.write(f"  {fault.kind}: {fault.text}")
        if len(checked.faults) > _MOST_SHOWN:
            self.stdout.write(f"  … and {len(checked.faults) - _MOST_SHOWN:,} more")
        if checked.orphans.blocks or checked.orphans.contents:
            self.stdout.write(
                f"  {checked.orphans.blocks:,} blocks and {checked.orphans.contents:,} contents "
                f"({bytes_text(checked.orphans.content_bytes)}) that no version names"
            )
