"""manage.py rotate_secrets: re-encrypt all stored secrets with the newest key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import models

from portal.core import vault
from workspaces.identity.mfa import rotate_second_factors
from workspaces.tenancy.scope import platform_scope


class Command(BaseCommand):
    help = (
        "Re-encrypt stored secrets with MUSTER_SECRET_KEY, reading them with "
        "MUSTER_SECRET_KEY_FALLBACKS. Safe to interrupt, to repeat and to run beside a "
        "running portal. Remove the old key once nothing is left to re-encrypt."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--batch", type=int, default=200, help="rows per batch")
        parser.add_argument("--dry-run", action="store_true", help="count only")

    def handle(self, *args: Any, **options: Any) -> None:
        is_dry, unreadable = options["dry_run"], 0
        for name, results in _rotations(max(options["batch"], 1), is_dry=is_dry):
            with platform_scope("re-encrypt the secrets of every organization"):
                done = Counter(results)
            unreadable += done["unreadable"]
            self.stdout.write(
                f"{name}: {done['anew']} {'to re-encrypt' if is_dry else 're-encrypted'}, "
                f"{done['newest']} already up to date, {done['unreadable']} unreadable"
            )
        if unreadable:
            raise CommandError(
                f"{unreadable} could not be read: restore their key in "
                "MUSTER_SECRET_KEY_FALLBACKS, "
                "or enter them again."
            )


def _rotations(batch: int, *, is_dry: bool) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield each table's name with the outcomes of its rows."""
    for model, field, purpose in sealed_fields():
        yield (
            f"{model._meta.label}.{field}",
            (
                _rotate(model, field, purpose, pk, stored, is_dry=is_dry)
                for pk, stored in _rows(model, field, batch)
            ),
        )
    yield "second factors", rotate_second_factors(is_dry=is_dry)


def sealed_fields() -> Iterator[tuple[type[models.Model], str, str]]:
    """Yield (model, field, purpose) of all encrypted fields, as models declare in `SEALED`."""
    for model in apps.get_models():
        for field, purpose in getattr(model, "SEALED", {}).items():
            yield model, field, purpose


def _rows(model: type[models.Model], field: str, batch: int) -> Iterator[tuple[Any, bytes]]:
    """Yield rows by primary key in batches, so that nothing is locked or kept for long."""
    rows, last = model._default_manager.order_by("pk").values_list("pk", field), None
    while found := list((rows if last is None else rows.filter(pk__gt=last))[:batch]):
        yield from ((pk, bytes(stored)) for pk, stored in found if stored)
        last = found[-1][0]


def _rotate(
    model: type[models.Model], field: str, purpose: str, pk: Any, stored: bytes, *, is_dry: bool
) -> str:
    """Re-encrypt one row and return the outcome.

    A row written meanwhile already has the newest key.
    """
    if vault.is_newest(stored, purpose):
        return "newest"
    try:
        fresh = vault.rotate(stored, purpose)
    except vault.Unreadable:
        return "unreadable"
    if not is_dry:
        model._default_manager.filter(pk=pk, **{field: stored}).update(**{field: fresh})
    return "anew"
