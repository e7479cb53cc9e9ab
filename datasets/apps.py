"""Register what the app adds to the portal."""

import re

from django.apps import AppConfig

UPLOAD_FORM = re.compile(r"/[^/]+/(datasets|checkpoints)/[^/]+/upload")

class DatasetsConfig(AppConfig):
    name = "datasets"

    def ready(self) -> None:
        from datasets import selectors  # models are loaded by now
        from datasets.web.navigation import ENTRIES
        from datasets.web.search import PROVIDERS
        from portal.blobs import files
        from portal.core import protocols
        from portal.web import navigation, search

        files.register(selectors.referenced)
        protocols.allow_larger_bodies("", UPLOAD_FORM, protocols.UPLOAD)
        navigation.register(*ENTRIES)
        search.register(*PROVIDERS)
