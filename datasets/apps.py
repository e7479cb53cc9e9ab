"""Register what the app adds to the portal."""

import re

from django.apps import AppConfig

UPLOAD_FORM = re.compile(r"/[^/]+/(datasets|checkpoints|workspaces)/[^/]+/upload")
COMMITS_LIMIT = 512 << 20  # bytes: a million changes, one a line
_REPOSITORY = r"/api/v1/orgs/[^/]+/(datasets|checkpoints)/[^/]+"
CONTENTS = re.compile(rf"{_REPOSITORY}/(contents|uploads/[^/]+)")
BATCH, BATCH_LIMIT = re.compile(rf"{_REPOSITORY}/contents/batch"), 34 << 20
COMMITS = re.compile(rf"{_REPOSITORY}/commits")
WORKSPACE_FILES = re.compile(
    r"/api/v1/orgs/[^/]+/workspaces/[^/]+/(files/.+|uploads/[^/]+)", re.DOTALL
)


class DatasetsConfig(AppConfig):
    name = "datasets"

    def ready(self) -> None:
        from django.conf import settings

        from datasets import selectors  # models are loaded by now
        from datasets.folders.space_sources import SOURCE
        from datasets.protocols import PROTOCOLS
        from datasets.space_sources import SOURCES
        from datasets.web.navigation import ENTRIES
        from datasets.web.search import PROVIDERS
        from portal.blobs import store
        from portal.core import protocols
        from portal.web import navigation, search
        from workspaces.quotas import space

        store.register(selectors.referenced)
        space.register(*SOURCES, SOURCE)
        protocols.register(*PROTOCOLS)
        protocols.allow_larger_bodies("", UPLOAD_FORM, protocols.UPLOAD)
        navigation.register(*ENTRIES)
        search.register(*PROVIDERS)
        protocols.allow_larger_bodies("/api/v1/", CONTENTS, settings.MUSTER_FILE_LIMIT)
        protocols.allow_larger_bodies("/api/v1/", BATCH, BATCH_LIMIT)
        protocols.allow_larger_bodies("/api/v1/", WORKSPACE_FILES, settings.MUSTER_FILE_LIMIT)
        protocols.allow_larger_bodies("/api/v1/", COMMITS, COMMITS_LIMIT)
