from django.apps import AppConfig


class DemoConfig(AppConfig):
    name = "demo"

    def ready(self) -> None:
        import schedulers
        from demo.backend import SimulatedCluster

        schedulers.register(SimulatedCluster)
