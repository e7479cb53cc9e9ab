from django.apps import AppConfig


class RegistryConfig(AppConfig):
    name = "registry"

    def ready(self) -> None:
        from portal.blobs import files
        from registry import references  # models are loaded by now

        files.register(references.referenced)
