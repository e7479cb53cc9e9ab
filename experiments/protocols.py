"""Protocols of this app."""

from __future__ import annotations

import re

from experiments.mlflow.errors import body
from portal.core.protocols import Authentication, Protocol

# The largest file of a run. nginx has the same limit (deploy/nginx-server.conf).
MAX_ARTIFACT = 64 << 30

PROTOCOLS = (
    Protocol(
        "/mlflow/",
        Authentication.TOKEN,
        org=re.compile(r"/mlflow/([^/]*)"),
        error_body=body,
        error_type="application/json",
        larger_bodies=(
            (re.compile(r"/mlflow/.*/mlflow-artifacts/artifacts/.*", re.DOTALL), MAX_ARTIFACT),
            (re.compile(r"/mlflow/.*/(v1/traces|mlflow/traces)", re.DOTALL), 32 << 20),
        ),
    ),
)
