"""MLflow's filter language for runs, experiments and logged models."""

from experiments.search.language import Condition, Sorting, parse_filter, parse_order
from experiments.search.paging import page_of
from experiments.search.queries import search_experiments, search_logged_models, search_runs

__all__ = [
    "Condition",
    "Sorting",
    "page_of",
    "parse_filter",
    "parse_order",
    "search_experiments",
    "search_logged_models",
    "search_runs",
]
