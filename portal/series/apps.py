from portal.core.declarations import MusterApp


class SeriesConfig(MusterApp):
    name = "portal.series"
    label = "series"
