import re

from django.apps import AppConfig

FILE = re.compile(r"/api/v1/orgs/[^/]+/models/[^/]+/[^/]+/versions/[^/]+/files/.+")


class RegistryConfig(AppConfig):
    name = "registry"

    def ready(self) -> None:
        from django.conf import settings

        from portal.blobs import store
        from portal.core import protocols
        from portal.web import navigation, search
        from registry import references  # models are loaded by now
        from registry.space_sources import SOURCE
        from registry.web.navigation import ENTRIES
        from registry.web.search import PROVIDERS
        from workspaces.quotas import space

        store.register(references.referenced)
        space.register(SOURCE)
        protocols.allow_larger_bodies("/api/v1/", FILE, settings.MUSTER_FILE_LIMIT)
        navigation.register(*ENTRIES)
        search.register(*PROVIDERS)
