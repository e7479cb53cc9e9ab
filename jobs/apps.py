from portal.core.declarations import MusterApp


class JobsConfig(MusterApp):
    name = "jobs"
