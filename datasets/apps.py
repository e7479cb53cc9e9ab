"""Register what the app adds to the portal."""

from django.apps import AppConfig


class DatasetsConfig(AppConfig):
    name = "datasets"

    def ready(self) -> None:
        from datasets import selectors  # models are loaded by now
        from datasets.protocols import PROTOCOLS
        from portal.blobs import files
        from portal.core import protocols

        files.register(selectors.referenced)
        protocols.register(*PROTOCOLS)
