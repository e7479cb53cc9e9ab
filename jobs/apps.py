from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "jobs"

    def ready(self) -> None:
        from clusters import workload
        from clusters.services.pools import names_visible_to
        from datasets import origins, uses
        from jobs import (  # models are loaded by now
            access,
            dashboard,
            gpu_use,
            inputs,
            leavers,
            workload_kinds,
        )
        from jobs import origins as job_origins
        from jobs.saving.origins import origins_for
        from jobs.scheduling import cluster_load
        from jobs.space_sources import SOURCE
        from jobs.web.navigation import ENTRIES
        from jobs.web.origins import RERUN
        from jobs.web.search import PROVIDERS
        from portal.web import navigation, search
        from workspaces.organizations.team_rule_services import register_pools
        from workspaces.quotas import space

        workload_kinds.register(workload_kinds.BATCH)
        job_origins.register(RERUN)
        space.register(SOURCE)
        navigation.register(*ENTRIES)
        navigation.register_running_count(dashboard.running_count)
        search.register(*PROVIDERS)
        access.register()
        workload.register(cluster_load)
        register_pools(names_visible_to)
        leavers.register()
        gpu_use.register()
        uses.register(inputs.commits_in_use)
        origins.register(origins_for)
        uses.register_finder(inputs.jobs_reading)
