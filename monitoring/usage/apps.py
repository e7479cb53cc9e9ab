from portal.core.declarations import MusterApp


class UsageConfig(MusterApp):
    name = "monitoring.usage"
    label = "usage"
