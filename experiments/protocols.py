"""Protocols of this app."""

from __future__ import annotations

import re

from django.conf import settings

from experiments.mlflow.errors import body
from portal.core.protocols import Authentication, LargerBody, Protocol

_ARTIFACT = re.compile(r"/api/v1/orgs/[^/]+/runs/[^/]+/artifacts/.+")
LARGER_BODIES = (LargerBody("/api/v1/", _ARTIFACT, settings.MUSTER_FILE_LIMIT),)
PROTOCOLS = (
    Protocol(
        "/mlflow/",
        Authentication.TOKEN,
        org=re.compile(r"/mlflow/([^/]*)"),
        error_body=body,
        error_type="application/json",
        larger_bodies=(
            (
                re.compile(r"/mlflow/.*/mlflow-artifacts/(artifacts|mpu/upload)/.*", re.DOTALL),
                settings.MUSTER_FILE_LIMIT,
            ),
            # The list of 10,000 parts
            (re.compile(r"/mlflow/.*/mlflow-artifacts/mpu/complete/.*", re.DOTALL), 8 << 20),
            (re.compile(r"/mlflow/.*/(v1/traces|mlflow/traces)", re.DOTALL), 32 << 20),
        ),
    ),
)
