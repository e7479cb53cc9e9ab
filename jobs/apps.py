from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "jobs"

    def ready(self) -> None:
        from jobs.leavers import living_jobs_of
        from workspaces.leavers import count_running_by

        count_running_by(living_jobs_of)
