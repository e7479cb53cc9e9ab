from portal.core.declarations import MusterApp


class DemoConfig(MusterApp):
    name = "demo"

    def ready(self) -> None:
        import schedulers
        from demo.backend import SimulatedCluster

        schedulers.register(SimulatedCluster)
