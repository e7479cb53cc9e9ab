from portal.core.declarations import MusterApp


class CoreConfig(MusterApp):
    name = "portal.core"
    label = "core"

    def ready(self) -> None:
        import portal.core.lookups  # registers the lookups
        import portal.core.sqlite  # noqa: F401  # adds functions to connections
