from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "jobs"

    def ready(self) -> None:
        from jobs import about, leavers, running  # models are there only now
        from jobs.clusters.pools import names_seen_by
        from workspaces.services.team_rules import name_pools_by

        about.register()
        name_pools_by(names_seen_by)
        leavers.register()
        running.register()
