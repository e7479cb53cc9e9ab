"""The vocabulary of states: what each app declares, and that nothing else shows a state."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

from django.apps import apps
from django.db.models import CharField

from experiments.lists import STATES as OF_RUNS
from jobs.states import JOB
from portal.core.declarations import MusterApp, declared
from portal.core.states import Mark, state_of
from schedulers.states import State

ROOT = Path(__file__).resolve().parent.parent
# Columns of states that no page shows: what an output of a job does is a sentence there
SILENT = {"joboutput"}
KINDS = {  # models whose states are declared under another name
    "import": "job",
    "approval": "request",
    "poolrequest": "pool_request",
    "quotarequest": "request",
    "poolreservation": "reservation",
    "migplan": "mig_plan",
    "mignode": "mig_node",
    "migplannode": "mig_node",
}


def test_declared_states_have_words_shapes_and_meanings():
    faults = []
    for each in declared("states", "STATES"):
        keys = [state.key for state in each.states]
        if len(keys) != len(set(keys)):
            faults.append(f"{each.of}: a key twice")
        for state in each.states:
            if not state.word or state.word != state.word.lower().replace("gpus", "GPUs"):
                faults.append(f"{each.of} {state.key}: the word is not in lower case")
            if not re.fullmatch(r"[A-Z].*\.", state.meaning) or state.mark not in set(Mark):
                faults.append(f"{each.of} {state.key}: no sentence of what it means, or no mark")
            if state.is_active and state.is_final:
                faults.append(f"{each.of} {state.key}: active and final")
    assert faults == []


def test_states_of_jobs_and_runs_are_declared_alike():
    assert {s.key: (s.is_active, s.is_final) for s in JOB.states if s.key != "unknown"} == {
        state.label: (state.is_active, state.is_final) for state in State
    }
    assert set(OF_RUNS.values()) <= set(JOB.by_key)


def test_stored_states_are_declared():
    models = chain.from_iterable(
        app.get_models() for app in apps.get_app_configs() if isinstance(app, MusterApp)
    )
    missing = []
    for model in models:
        for field in model._meta.fields:
            name = model._meta.model_name
            if field.name != "state" or not isinstance(field, CharField) or name in SILENT:
                continue
            of = KINDS.get(name, name)
            keys = {key for key, _ in field.choices or ()}
            missing += [f"{name}.{key}" for key in keys if not state_of(of, key).meaning]
    assert missing == []


def test_pages_show_states_only_through_the_component():
    shown = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "templates").rglob("*.html")
        if re.search(r'class="state[ "]', path.read_text())
    ]
    assert shown == ["templates/cotton/mark.html"]
