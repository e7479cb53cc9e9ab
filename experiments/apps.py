from django.apps import AppConfig


class ExperimentsConfig(AppConfig):
    name = "experiments"

    def ready(self) -> None:
        from experiments.web.navigation import ENTRIES  # models are loaded by now
        from experiments.web.search import PROVIDERS
        from portal.web import navigation, search

        navigation.register(*ENTRIES)
        search.register(*PROVIDERS)
