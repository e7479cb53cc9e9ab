"""MLflow's own clients against a running portal."""

from __future__ import annotations

import pytest


def test_client_without_server_parts_logs_searches_and_reads_back(client_of):
    client = client_of("mlflow", "skinny")
    logged = client.run("journey.py")
    assert len(logged["run"]) == 32
    assert client.run("registered.py") == {"models": []}
    assert client.run("upload_in_parts.py") == {"parts": [1, 2, 3, 4]}


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
