from django.apps import AppConfig


class ClustersConfig(AppConfig):
    name = "clusters"

    def ready(self) -> None:
        from clusters.web.navigation import ENTRIES
        from clusters.web.search import PROVIDERS
        from portal.web import navigation, search

        navigation.register(*ENTRIES)
        search.register(*PROVIDERS)
