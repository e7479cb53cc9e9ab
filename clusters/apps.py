from django.apps import AppConfig


class ClustersConfig(AppConfig):
    name = "clusters"

    def ready(self) -> None:
        from clusters.services.connections import cluster_names
        from clusters.services.pool_requests import KIND
        from clusters.sharing import refusals
        from clusters.web.navigation import ENTRIES
        from clusters.web.search import PROVIDERS
        from portal.web import navigation, search
        from workspaces.approvals import kinds
        from workspaces.credentials import agent_clusters
        from workspaces.identity.sign_in_page import register_notices

        kinds.register(KIND)
        navigation.register(*ENTRIES)
        search.register(*PROVIDERS)
        agent_clusters.register(cluster_names)
        register_notices(refusals)
