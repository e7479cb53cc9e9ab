"""Larger bodies of this app, at paths of the API."""

from __future__ import annotations

import re

from django.conf import settings

from portal.core.protocols import LargerBody

_FILE = re.compile(r"/api/v1/orgs/[^/]+/models/[^/]+/[^/]+/versions/[^/]+/files/.+")
LARGER_BODIES = (LargerBody("/api/v1/", _FILE, settings.MUSTER_FILE_LIMIT),)
