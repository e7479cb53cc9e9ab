"""What this app answers to the layers below it (docs/design/layout.md)."""

from __future__ import annotations

from billing import costs
from billing.selectors import spending, subjects
from billing.services import budgets
from jobs.quotas.pricing import Pricing

PRICING = (
    Pricing(
        of_jobs=costs.cost_of_job,
        of_spec=costs.price_of_spec,
        of_month=spending.cost_of_month,
        check=budgets.check_not_stopped,
    ),
)
SUBJECT_USE = (subjects.SOURCE,)
