from django.apps import AppConfig


class UsageConfig(AppConfig):
    name = "monitoring.usage"
    label = "usage"

    def ready(self) -> None:
        from jobs import pricing
        from monitoring.usage import costs
        from monitoring.usage.selectors import spending
        from monitoring.usage.services import budgets
        from monitoring.usage.web.navigation import ENTRIES
        from portal.web import navigation

        navigation.register(*ENTRIES)
        pricing.register(
            pricing.Pricing(
                of_jobs=costs.cost_of_job,
                of_spec=costs.price_of_spec,
                of_month=spending.cost_of_month,
                check=budgets.check_not_stopped,
            )
        )
