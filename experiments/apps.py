from portal.core.declarations import MusterApp


class ExperimentsConfig(MusterApp):
    name = "experiments"
