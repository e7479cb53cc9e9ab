"""What this app answers to the layers below it (docs/design/layout.md)."""

from __future__ import annotations

from clusters.pools import names_visible_to
from clusters.services.connections import cluster_names
from clusters.services.pool_requests import KIND
from clusters.sharing import refusals

APPROVAL_KINDS = (KIND,)
CLUSTER_NAMES = (cluster_names,)
POOL_NAMES = (names_visible_to,)
SIGN_IN_NOTICES = (refusals,)
