from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "portal.core"
    label = "core"

    def ready(self) -> None:
        import portal.core.lookups  # noqa: F401  # registers the lookups
