"""manage.py verify_audit: verify the integrity of the audit log."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from portal.core.audit.canonical import NO_ORG
from portal.core.audit.verify import VerificationReport, store_report, verify
from workspaces.models import Organization

PLATFORM = "platform"


class Command(BaseCommand):
    help = (
        "Verify the audit chain of each organization and report faults: changed, missing, "
        "reordered, inserted, truncated or unsealed events. Exit status: 0 valid, 1 usage "
        "error, 2 faults."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--org",
            help=f"slug of an organization; `{PLATFORM}` for events of no organization; default: "
            "all",
        )

    def handle(self, *args: Any, org: str | None = None, **options: Any) -> None:
        faults = 0
        for name, chain in _chains(org).items():
            report = verify(chain, self._progress(name))
            store_report(report)
            self._print_report(name, report)
            faults += report.fault_count
        if faults:
            sys.exit(2)

    def _print_report(self, name: str, report: VerificationReport) -> None:
        style = self.style.ERROR if report.fault_count else self.style.SUCCESS
        self.stdout.write(style(f"{name}: {report.words} ({report.seconds:.1f} s)"))
        for fault in report.faults:
            self.stdout.write(f"  {fault.kind}: {fault.text}")
        if report.fault_count > len(report.faults):
            self.stdout.write(f"  … and {report.fault_count - len(report.faults):,} more")

    def _progress(self, name: str) -> Any:
        if not self.stderr.isatty():
            return lambda count: None
        return lambda count: self.stderr.write(f"\r{name}: {count:,} …", ending="")


def _chains(slug: str | None) -> dict[str, Any]:
    if slug == PLATFORM:
        return {PLATFORM: NO_ORG}
    rows = Organization.objects.order_by("slug")
    found = {row.slug: row.id for row in (rows.filter(slug=slug) if slug else rows)}
    if slug and not found:
        raise CommandError(f"There is no organization {slug!r}.")
    return found if slug else {PLATFORM: NO_ORG, **found}
