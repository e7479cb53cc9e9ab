"""Protocols of this app."""

from __future__ import annotations

import re

from django.conf import settings

from datasets.hub.requests import error_body, error_headers
from datasets.xet import shards, xorbs
from portal.core.errors import PortalError
from portal.core.protocols import UPLOAD, Authentication, LargerBody, Protocol


def dav_headers(error: PortalError) -> dict[str, str]:
    """Return what clients of WebDAV need to ask for a password."""
    return {"WWW-Authenticate": 'Basic realm="muster"'} if error.http == 401 else {}


MOST_IN_COMMIT = 256 << 20  # bytes: a million lines
COMMITS_LIMIT = 512 << 20  # bytes: a million changes, one a line
BATCH_LIMIT = 34 << 20  # bytes
_REPOSITORY = r"/api/v1/orgs/[^/]+/(datasets|checkpoints)/[^/]+"
_FOLDER = r"/api/v1/orgs/[^/]+/workspaces/[^/]+"
LARGER_BODIES = (
    LargerBody("", re.compile(r"/[^/]+/(datasets|checkpoints|workspaces)/[^/]+/upload"), UPLOAD),
    *(
        LargerBody("/api/v1/", pattern, most)
        for pattern, most in (
            (re.compile(rf"{_REPOSITORY}/(contents|uploads/[^/]+)"), settings.MUSTER_FILE_LIMIT),
            (re.compile(rf"{_REPOSITORY}/contents/batch"), BATCH_LIMIT),
            (re.compile(rf"{_FOLDER}/contents/batch"), BATCH_LIMIT),
            (
                re.compile(rf"{_FOLDER}/(files/.+|uploads/[^/]+)", re.DOTALL),
                settings.MUSTER_FILE_LIMIT,
            ),
            (re.compile(rf"{_REPOSITORY}/commits"), COMMITS_LIMIT),
        )
    ),
)
PROTOCOLS = (
    Protocol(
        "/hf/",
        Authentication.TOKEN,
        org=re.compile(
            r"/hf/(?:api/(?:models|datasets)/|datasets/(?!\.)|(?!api/|datasets/|upload/))([^/]+)/[^/]+"
        ),
        error_body=error_body,
        error_type="application/json",
        error_headers=error_headers,
        larger_bodies=(
            (re.compile(r"/hf/upload/.*", re.DOTALL), settings.MUSTER_FILE_LIMIT),
            (re.compile(r"/hf/api/.*/commit/.*", re.DOTALL), MOST_IN_COMMIT),
            (re.compile(r"/hf/api/.*/preupload/.*", re.DOTALL), 16 << 20),
        ),
    ),
    Protocol(
        "/dav/",
        Authentication.TOKEN,
        org=re.compile(r"/dav/([^/]+)"),
        error_headers=dav_headers,
        max_body=settings.MUSTER_FILE_LIMIT,  # a path says nothing about what is sent
    ),
    Protocol(
        "/xet/",
        Authentication.TOKEN,
        org=re.compile(r"/xet/([^/]+)"),
        error_body=error_body,
        error_type="application/json",
        larger_bodies=(
            (re.compile(r"/xet/.*/v1/xorbs/.*"), xorbs.LARGEST),
            (re.compile(r"/xet/.*/v1/shards"), shards.LARGEST),
        ),
    ),
)
