"""Find what a request names. What the actor may not see does not exist."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from uuid import UUID

from experiments import selectors, services
from experiments.mlflow.calls import Call, invalid
from experiments.models import Experiment, LoggedModel, Run
from experiments.services.experiments import DEFAULT as DEFAULT_NAME
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from workspaces.access.actors import Actor

DEFAULT = "0"  # MLflow's id of the experiment "Default"


MOST_EXPERIMENTS = 10_000  # of a search
PIECE = 1000  # of them in a query


def experiment_of(call: Call, number: str) -> Experiment:
    """Return an experiment by MLflow's id, also from the trash. Raises NotFound, InvalidInput."""
    if number == DEFAULT:
        return services.default_experiment(actor=call.actor, team=call.team)
    _check_number(number)
    try:
        return selectors.find_experiment(call.actor, number, with_trash=True)
    except NotFound as error:
        raise NotFound(
            Message("No Experiment with id={number} exists", number=number[:100])
        ) from error


def _check_number(number: str) -> None:
    if not (number.isascii() and number.isdigit()):
        raise InvalidInput(
            Message(
                "Invalid experiment ID '{number}'. Experiment ID must be a valid integer.",
                number=number[:100],
            )
        )


def active_experiment(call: Call, number: str) -> Experiment:
    """Return an experiment that is not in the trash. Raises NotFound, InvalidInput."""
    row = experiment_of(call, number)
    if row.deleted_at is not None:
        raise NotFound(Message("No Experiment with id={number} exists", number=number))
    return row


def experiments_of(call: Call, numbers: Sequence[str]) -> list[Experiment]:
    """Return those of the experiments that exist, also from the trash. Raises InvalidInput."""
    if len(numbers) > MOST_EXPERIMENTS:
        raise InvalidInput.at(
            "experiment_ids",
            Message("must be at most {most}", context="error of a field", most=MOST_EXPERIMENTS),
        )
    for number in numbers:
        _check_number(number)
    rows = selectors.visible_experiments(call.actor, "all")
    # A search creates nothing: a new team, and one who may only read, find nothing
    found = list(rows.filter(team=call.team, name=DEFAULT_NAME)) if DEFAULT in numbers else []
    known = sorted({int(n) for n in numbers if len(n) < 19} - {int(DEFAULT)})
    for start in range(0, len(known), PIECE):
        found += rows.filter(number__in=known[start : start + PIECE])
    return list({row.pk: row for row in found}.values())


def run_of(call: Call, run_id: str) -> Run:
    """Return a run, also from the trash. Raises NotFound."""
    return _found(run_id, partial(selectors.find_run, with_trash=True), call)


def _found(run_id: str, find: Callable[[Actor, str], Run], call: Call) -> Run:
    try:
        return find(call.actor, run_id)
    except NotFound as error:
        raise NotFound(Message("Run with id={run_id} not found", run_id=run_id[:100])) from error


def active_run(call: Call, run_id: str) -> Run:
    """Return a run that is not in the trash. Raises NotFound, InvalidInput."""
    row = _found(run_id, selectors.find_run_to_log, call)
    check_active(row)
    return row


def check_active(row: Run) -> None:
    """Raise InvalidInput if a run is in the trash."""
    if row.deleted_at is not None:
        raise InvalidInput(
            Message(
                "The run {run_id} must be in the 'active' state. Current state is deleted.",
                run_id=row.id.hex,
            )
        )


def model_of(call: Call, model_id: str, *, with_trash: bool = False) -> LoggedModel:
    """Return a logged model. Raises NotFound."""
    try:
        return selectors.find_logged_model(
            call.actor, uuid_of(model_id.removeprefix("m-")), with_trash=with_trash
        )
    except NotFound as error:
        raise NotFound(
            Message("Logged model with ID '{model_id}' not found.", model_id=model_id[:100])
        ) from error


def uuid_of(text: str) -> UUID:
    """Return an id that is written as 32 hexadecimal digits. Raises NotFound."""
    try:
        found = UUID(hex=text)
    except ValueError as error:
        raise NotFound(Message("There is no {text}.", text=repr(text[:100]))) from error
    if found.hex != text:
        raise NotFound(Message("There is no {text}.", text=repr(text[:100])))
    return found


VIEWS = {"ACTIVE_ONLY": "active", "DELETED_ONLY": "deleted", "ALL": "all"}
_BY_NUMBER = {"1": "active", "2": "deleted", "3": "all"}


def view_type(call: Call, name: str) -> str:
    """Return "active", "deleted" or "all". Raises InvalidInput."""
    given = call.text(name) or "ACTIVE_ONLY"
    found = VIEWS.get(given) or _BY_NUMBER.get(given)
    if found is None:
        raise invalid(name, given)
    return found
