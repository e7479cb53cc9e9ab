"""The protocols of all apps, and the places that cannot read it."""

from __future__ import annotations

import re
from pathlib import Path

from portal.core.protocols import Authentication, protocol_at, protocols
from workspaces.organizations.services import RESERVED

NGINX = Path(__file__).parents[3] / "deploy" / "nginx.conf"


def test_protocol_at_longest_prefix_wins():
    assert protocol_at("/atlas/jobs").error_body is None
    assert protocol_at("/api/docs/").authentication is Authentication.SESSION
    assert protocol_at("/api/v1/orgs/atlas/jobs").org_in("/api/v1/orgs/atlas/jobs") == "atlas"
    assert protocol_at("/identity/o/authorize").error_body is None
    assert protocol_at("/identity/o/api/token").error_body is not None


def test_most_bytes_route_with_larger_bodies_has_its_own_limit():
    for path, most in (
        ("/api/v1/orgs/atlas/people/import", 8 << 20),
        ("/api/v1/agent/samples", 8 << 20),
        ("/scim/v2/corp/Users", 4 << 20),
        ("/api/v1/orgs/atlas/jobs", 2_621_440),
        ("/atlas/jobs", 2_621_440),
    ):
        assert protocol_at(path).most_bytes(path) == most, path


def test_protocols_agree_with_nginx_and_reserved_slugs():
    plain = re.search(r"location ~ (\^/\(api.*) \{", NGINX.read_text())
    assert plain
    for protocol in protocols():
        prefix = protocol.prefix
        assert not prefix or prefix.strip("/").partition("/")[0] in RESERVED, prefix
        if protocol.error_body is not None:
            assert re.match(plain[1], prefix), f"nginx redirects {prefix} to https"
