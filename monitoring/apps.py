from django.apps import AppConfig


class MonitoringConfig(AppConfig):
    name = "monitoring"

    def ready(self) -> None:
        from monitoring.protocols import PROTOCOLS
        from monitoring.web.navigation import ENTRIES
        from portal.core import protocols
        from portal.web import navigation

        navigation.register(*ENTRIES)
        protocols.register(*PROTOCOLS)
