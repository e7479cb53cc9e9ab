import re

from django.apps import AppConfig

ARTIFACT = re.compile(r"/api/v1/orgs/[^/]+/runs/[^/]+/artifacts/.+")


class ExperimentsConfig(AppConfig):
    name = "experiments"

    def ready(self) -> None:
        from django.conf import settings

        from datasets import references
        from experiments import artifacts  # models are loaded by now
        from experiments.lineage.edges import referred_to
        from experiments.model_sources import RunSources
        from experiments.protocols import PROTOCOLS
        from experiments.space_sources import SOURCE
        from experiments.web import lineage
        from experiments.web.job_links import run_links
        from experiments.web.navigation import ENTRIES
        from experiments.web.search import PROVIDERS
        from jobs.web import links
        from portal.blobs import store
        from portal.core import protocols
        from portal.web import lineage as lineages
        from portal.web import navigation, search
        from registry import sources
        from workspaces.quotas import space

        store.register(artifacts.referenced)
        space.register(SOURCE)
        references.register(referred_to)
        protocols.register(*PROTOCOLS)
        sources.register(RunSources())
        protocols.allow_larger_bodies("/api/v1/", ARTIFACT, settings.MUSTER_FILE_LIMIT)
        navigation.register(*ENTRIES)
        search.register(*PROVIDERS)
        links.register(run_links)
        lineages.register(lineage.describe)
