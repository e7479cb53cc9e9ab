from portal.core.declarations import MusterApp


class ProbeConfig(MusterApp):
    name = "tests.billing.probe"
    label = "probe"
