from django.apps import AppConfig


class MonitoringConfig(AppConfig):
    name = "monitoring"

    def ready(self) -> None:
        import schedulers
        from monitoring.demo.backend import SimulatedCluster

        schedulers.register(SimulatedCluster)
