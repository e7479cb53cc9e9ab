from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "jobs"

    def ready(self) -> None:
        from clusters import workload
        from clusters.services.pools import names_visible_to
        from datasets import origins, uses
        from jobs import access, dashboard, gpu_use, inputs, leavers  # models are loaded by now
        from jobs.ports.provider import PortProvider
        from jobs.saving.origins import origins_for
        from jobs.scheduling import cluster_load
        from jobs.space_sources import SOURCE
        from jobs.web.navigation import ENTRIES
        from jobs.web.search import PROVIDERS
        from portal.gateway import provider
        from portal.web import navigation, search
        from workspaces.organizations.team_rule_services import register_pools
        from workspaces.quotas import space

        space.register(SOURCE)
        navigation.register(*ENTRIES)
        navigation.register_running_count(dashboard.running_count)
        search.register(*PROVIDERS)
        access.register()
        provider.register(PortProvider())
        workload.register(cluster_load)
        register_pools(names_visible_to)
        leavers.register()
        gpu_use.register()
        uses.register(inputs.commits_in_use)
        origins.register(origins_for)
        uses.register_finder(inputs.jobs_reading)
