from portal.core.declarations import MusterApp


class MonitoringConfig(MusterApp):
    name = "monitoring"
