from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "jobs"

    def ready(self) -> None:
        from jobs import about, leavers, running  # models are there only now

        about.register()
        leavers.register()
        running.register()
