"""Compute the ledger again."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from billing.models import LedgerLine
from billing.services import ledger
from workspaces.tenancy.scope import platform_scope


class Command(BaseCommand):
    help = (
        "Compute all lines of jobs and granted pools again from their rows. Issued statements stay; "
        "differences become corrections in the next ones."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        ledger.rebuild()
        with platform_scope("lines are counted"):
            self.stdout.write(f"{LedgerLine.objects.count()} lines.")
