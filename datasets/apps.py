from portal.core.declarations import MusterApp


class DatasetsConfig(MusterApp):
    name = "datasets"
