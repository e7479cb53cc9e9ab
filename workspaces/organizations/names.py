"""Validate names and slugs, and serialize changes to an organization's members."""

from __future__ import annotations

import re
from uuid import UUID

from portal.core.errors import InvalidInput
from portal.core.messages import Message
from workspaces.models import Organization

SLUG = re.compile(r"[a-z][a-z0-9-]{0,38}[a-z0-9]\Z")


def check_slug(slug: str) -> None:
    """Check that a slug fits into a URL. Raises InvalidInput."""
    if not SLUG.match(slug):
        raise InvalidInput.at(
            "slug",
            Message(
                "must be 2 to 40 of a-z, 0-9 and '-', begin with a letter and not end with '-'"
            ),
        )


def clean_name(name: str) -> str:
    """Return a display name of at most 100 characters without control characters.

    Raises InvalidInput.
    """
    name = name.strip()
    if not name or len(name) > 100 or not name.isprintable():
        raise InvalidInput.at(
            "name", Message("must be 1 to {n} characters long, without control characters", n=100)
        )
    return name


def lock_organization(org_id: UUID) -> None:
    """Lock the organization, to serialize changes to its members, teams and roles.

    They are rare and depend on each other's rows (a taken name, the last owner). NO KEY, so that
    submitting jobs is not blocked.
    """
    list(Organization.objects.select_for_update(no_key=True).filter(id=org_id).values_list("id"))
