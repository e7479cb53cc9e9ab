from django.apps import AppConfig


class BillingConfig(AppConfig):
    name = "billing"
    label = "usage"

    def ready(self) -> None:
        from billing import costs
        from billing.selectors import spending
        from billing.services import budgets
        from billing.web.navigation import ENTRIES
        from jobs import pricing
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
