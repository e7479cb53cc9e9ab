from portal.core.declarations import MusterApp


class ClustersConfig(MusterApp):
    name = "clusters"
