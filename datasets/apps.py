"""Register what the app adds to the portal."""

import re

from django.apps import AppConfig

COMMITS_LIMIT = 512 << 20  # bytes: a million changes, one a line
_REPOSITORY = r"/api/v1/orgs/[^/]+/(datasets|checkpoints)/[^/]+"
CONTENTS = re.compile(rf"{_REPOSITORY}/(contents|uploads/[^/]+)")
COMMITS = re.compile(rf"{_REPOSITORY}/commits")


class DatasetsConfig(AppConfig):
    name = "datasets"

    def ready(self) -> None:
        from django.conf import settings

        from datasets import selectors  # models are loaded by now
        from datasets.protocols import PROTOCOLS
        from portal.blobs import files
        from portal.core import protocols

        files.register(selectors.referenced)
        protocols.register(*PROTOCOLS)
        protocols.allow_larger_bodies("/api/v1/", CONTENTS, settings.MUSTER_FILE_LIMIT)
        protocols.allow_larger_bodies("/api/v1/", COMMITS, COMMITS_LIMIT)
