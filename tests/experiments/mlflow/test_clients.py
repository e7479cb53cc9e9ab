"""MLflow's own clients, and libraries that log by them, against a running portal."""

from __future__ import annotations

import re

import pytest

from experiments.mlflow.routes import fields_of
from tests.cases import CASES


def test_client_without_server_parts_logs_searches_and_reads_back(client_of):
    client = client_of("mlflow", "skinny")
    logged = client.run("journey.py")
    assert len(logged["run"]) == 32
    assert client.run("registered.py") == {"models": []}
    assert client.run("upload_in_parts.py") == {"parts": [1, 2, 3, 4]}


def test_cases_of_public_reports_pass_with_the_real_client(client_of):
    client = client_of("mlflow", "skinny")
    printed = client.output("mlflow-unicode-keys.py", folder=CASES / "2026-11-27")
    printed += client.output("mlflow_faults.py", folder=CASES / "2026-11-27")
    failed = [line for line in printed.splitlines() if line.startswith("FAIL")]
    assert len(failed) == 1 and "s3://bucket/model is not in this portal" in failed[0], printed
    assert "moves with a version's stage: True" in printed
    [names] = re.findall(r"names differ \('(.+)', '(.+)'\)", printed)
    assert names[0] != names[1]


def test_routes_take_the_parameters_that_clients_send(client_of):
    wrong = []
    for route, fields in client_of("mlflow", "skinny").run("parameters.py").items():
        known = fields_of(*route.split(" ", 1))
        missing = set(fields) - (known or set()) - set(re.findall(r"x_(\w+)", route))
        if known is not None and missing:
            wrong.append(f"{route}: {missing}")
    assert wrong == []


@pytest.mark.integration
@pytest.mark.parametrize(("environment", "team"), [("mlflow2", "two"), ("mlflow3", "three")])
def test_full_clients_autolog_scikit_learn_and_register(client_of, environment, team):
    client = client_of(environment, team)
    trained = client.run("autolog.py")
    assert trained["params"]["max_iter"] == "50"
    assert "training_accuracy_score" in trained["metrics"]
    assert (trained["datasets"], trained["version"]) == (1, "1")
    client.run("journey.py")
    assert client.run("registered.py") == {"models": ["iris"]}


@pytest.mark.integration
@pytest.mark.parametrize(
    ("program", "params", "points", "file"),
    [
        (
            "xgboost_autolog.py",
            {"max_depth": "3", "num_boost_round": "20", "objective": "binary:logistic"},
            {"validation-logloss": 20},
            "model/model.ubj",
        ),
        (
            "keras_autolog.py",
            {"epochs": "4", "batch_size": "64", "optimizer_name": "adam"},
            {"loss": 4, "val_loss": 4, "accuracy": 4, "val_accuracy": 4},
            "model/data/model.keras",
        ),
        ("optuna_study.py", {"max_iter": "200"}, {"accuracy": 1}, "model/model.skops"),
    ],
)
def test_program_logs_params_curves_and_model_to_its_team(
    client_of, browser, program, params, points, file
):
    run_id = client_of("mlflow3", "others").run(program)["run"]
    api, page = f"/api/v1/orgs/home/runs/{run_id}", f"/home/runs/{run_id}"
    run = browser.get(api).json()
    assert (run["team"], run["status"]) == ("others", "FINISHED")
    assert run["params"].items() >= params.items()
    for name, number in points.items():
        [curve] = browser.get(f"{api}/metrics", params={"names": name}).json()["series"]
        assert len(curve["values"]) == number
        assert run["metrics"][name]["value"] == curve["values"][-1]
    stored = browser.get(f"{api}/artifacts/{file}")
    assert stored.status_code == 200 and len(stored.content) > 500
    shown = browser.get(page).text
    assert all(f">{text}<" in shown for pair in params.items() for text in pair)
    assert all(f'data-metric="{name}"' in shown for name in points)
    files = browser.get(page, params={"tab": "artifacts", "path": "model/MLmodel"}).text
    assert "flavors:" in files and f"path={file.split('/')[0]}" in files
