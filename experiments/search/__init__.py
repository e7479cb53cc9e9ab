"""MLflow's filter language: one parser, and a search for each kind of row."""

from experiments.search.language import SearchCondition, Sorting, parse_filter, parse_order
from experiments.search.paging import page_of
from experiments.search.queries import (
    Dataset,
    search_experiments,
    search_logged_models,
    search_model_versions,
    search_registered_models,
    search_runs,
    search_traces,
)

__all__ = [
    "Dataset",
    "SearchCondition",
    "Sorting",
    "page_of",
    "parse_filter",
    "parse_order",
    "search_experiments",
    "search_logged_models",
    "search_model_versions",
    "search_registered_models",
    "search_runs",
    "search_traces",
]
