from django.apps import AppConfig


class SeriesConfig(AppConfig):
    name = "portal.series"
    label = "series"
