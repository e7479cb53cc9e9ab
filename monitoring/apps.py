from portal.core.declarations import MusterApp


class MonitoringConfig(MusterApp):
    name = "monitoring"

    def ready(self) -> None:
        import schedulers
        from monitoring.demo.backend import SimulatedCluster

        schedulers.register(SimulatedCluster)
