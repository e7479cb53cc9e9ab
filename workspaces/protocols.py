"""Protocols of this app."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from portal.core.errors import PortalError
from portal.core.protocols import Authentication, Protocol
from workspaces.identity.scim.schemas import ScimError


def _scim_error(error: PortalError) -> Mapping[str, Any]:
    return ScimError(error.http, error.message).as_dict()


SCIM = Protocol(
    "/scim/",
    Authentication.OWN,
    error_body=_scim_error,
    error_type="application/scim+json",
    max_body=4 << 20,
)
PROTOCOLS = (
    Protocol("/api/", Authentication.SESSION),  # the schema and its pages
    Protocol(
        "/api/v1/",
        Authentication.TOKEN,
        org=re.compile(r"/api/v1/orgs/([^/]*)"),
        larger_bodies=((re.compile(r"/api/v1/orgs/[^/]+/people/import"), 8 << 20),),
    ),
    SCIM,
    # OpenID Connect: people read its pages, and programs the endpoints below `api`
    Protocol("/identity/", Authentication.OWN, error_body=None, is_translated=True),
    Protocol("/identity/o/api/", Authentication.OWN, is_translated=True),
)
