from django.apps import AppConfig


class MonitoringConfig(AppConfig):
    name = "monitoring"

    def ready(self) -> None:
        from monitoring.protocols import PROTOCOLS
        from monitoring.web.navigation import ENTRIES
        from monitoring.web.search import PROVIDERS
        from portal.core import protocols
        from portal.web import navigation, search

        navigation.register(*ENTRIES)
        search.register(*PROVIDERS)
        protocols.register(*PROTOCOLS)
