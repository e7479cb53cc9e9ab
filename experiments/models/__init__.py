"""Experiments and what is logged to them."""

from experiments.models.artifact import Artifact
from experiments.models.event_file import EventFile
from experiments.models.experiment import Experiment
from experiments.models.logged_model import LoggedModel
from experiments.models.run import Run, RunStatus
from experiments.models.trace import Trace

__all__ = ["Artifact", "EventFile", "Experiment", "LoggedModel", "Run", "RunStatus", "Trace"]
