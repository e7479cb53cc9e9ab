from django.apps import AppConfig


class ClustersConfig(AppConfig):
    name = "clusters"

    def ready(self) -> None:
        from clusters.web.navigation import ENTRIES
        from portal.web import navigation

        navigation.register(*ENTRIES)
