"""Write experiments, runs and what is logged to them."""

from experiments.services.experiments import (
    create_experiment,
    default_experiment,
    delete_experiment,
    delete_experiment_tag,
    restore_experiment,
    set_experiment_tags,
    update_experiment,
)
from experiments.services.logged_models import (
    create_logged_model,
    delete_logged_model,
    delete_logged_model_tag,
    finalize_logged_model,
    log_logged_model_metrics,
    log_logged_model_params,
    set_logged_model_tags,
)
from experiments.services.logging import (
    add_to_list_tag,
    delete_run_tag,
    log_batch,
    log_inputs,
    log_outputs,
)
from experiments.services.runs import (
    archive_runs,
    create_run,
    delete_runs,
    restore_runs,
    unarchive_runs,
    update_run,
)
from experiments.services.traces import save_trace
from experiments.services.trash import purge

__all__ = [
    "add_to_list_tag",
    "archive_runs",
    "create_experiment",
    "create_logged_model",
    "create_run",
    "default_experiment",
    "delete_experiment",
    "delete_experiment_tag",
    "delete_logged_model",
    "delete_logged_model_tag",
    "delete_run_tag",
    "delete_runs",
    "finalize_logged_model",
    "log_batch",
    "log_inputs",
    "log_logged_model_metrics",
    "log_logged_model_params",
    "log_outputs",
    "purge",
    "restore_experiment",
    "restore_runs",
    "save_trace",
    "set_experiment_tags",
    "set_logged_model_tags",
    "unarchive_runs",
    "update_experiment",
    "update_run",
]
