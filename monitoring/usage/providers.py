"""What this app answers to the layers below it (docs/design/layout.md)."""

from __future__ import annotations

from jobs.pricing import Pricing
from monitoring.usage import costs
from monitoring.usage.selectors import spending
from monitoring.usage.services import budgets

PRICING = (
    Pricing(
        of_jobs=costs.cost_of_job,
        of_spec=costs.price_of_spec,
        of_month=spending.cost_of_month,
        check=budgets.check_not_stopped,
    ),
)
