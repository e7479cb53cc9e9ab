"""Register what the app adds to the portal."""

from django.apps import AppConfig


class DatasetsConfig(AppConfig):
    name = "datasets"

    def ready(self) -> None:
        from datasets import selectors  # models are loaded by now
        from portal.blobs import files

        files.register(selectors.referenced)
