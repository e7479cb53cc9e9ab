"""Names that people give to things of an organization, and the lock under which names and people are looked at and changed."""

from __future__ import annotations

import re
from uuid import UUID

from portal.core.errors import InvalidInput
from workspaces.models import Organization

SLUG = re.compile(r"[a-z][a-z0-9-]{0,38}[a-z0-9]\Z")


def check_slug(slug: str) -> None:
    """Fit to be part of an address. Raises InvalidInput."""
    if not SLUG.match(slug):
        raise InvalidInput.at(
            "slug", "must be 2 to 40 of a-z, 0-9 and '-', begin with a letter and not end with '-'"
        )


def clean_name(name: str) -> str:
    """A display name without control characters, at most 100 long. Raises InvalidInput."""
    name = name.strip()
    if not name or len(name) > 100 or not name.isprintable():
        raise InvalidInput.at(
            "name", "must be 1 to 100 characters long, without control characters"
        )
    return name


def alone_in(org_id: UUID) -> None:
    """Changes of people, teams and roles of one organization happen one after the other: they are rare, and look at each other's rows
    (a name that is taken, the last owner). No-key, so that jobs may go on being submitted."""
    list(Organization.objects.select_for_update(no_key=True).filter(id=org_id).values_list("id"))
