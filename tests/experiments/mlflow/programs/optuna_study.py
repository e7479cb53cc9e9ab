"""Tune a classifier with Optuna: a nested run for each trial, with the model it has trained.

A second study keeps its trials on the tracking server, in MLflow's storage for Optuna.
"""

import json

import mlflow
import optuna
from mlflow.optuna.storage import MlflowStorage
from optuna_integration import MLflowCallback
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

features, labels = load_iris(return_X_y=True)
callback = MLflowCallback(metric_name="accuracy", mlflow_kwargs={"nested": True})


@callback.track_in_mlflow()
def accuracy(trial: optuna.Trial) -> float:
    mlflow.log_param("max_iter", 200)
    model = LogisticRegression(C=trial.suggest_float("C", 1e-3, 10, log=True), max_iter=200)
    mlflow.sklearn.log_model(model.fit(features, labels), name="model")
    return float(cross_val_score(model, features, labels).mean())


mlflow.set_experiment("optuna")
study = optuna.create_study(
    study_name="optuna", direction="maximize", sampler=optuna.samplers.TPESampler(seed=1)
)
with mlflow.start_run(run_name="study") as parent:
    study.optimize(accuracy, n_trials=5, callbacks=[callback])
found = mlflow.search_runs(
    filter_string=f"tags.mlflow.parentRunId = '{parent.info.run_id}'",
    order_by=["metrics.accuracy DESC"],
)
assert len(found) == 5
assert found["metrics.accuracy"][0] == study.best_value
assert float(found["params.C"][0]) == study.best_params["C"]
best = mlflow.sklearn.load_model(f"runs:/{found['run_id'][0]}/model")
assert (best.predict(features) == labels).mean() > 0.9

storage = MlflowStorage(experiment_id=mlflow.set_experiment("optuna-storage").experiment_id)
kept = optuna.create_study(study_name="kept", storage=storage)
kept.optimize(lambda trial: trial.suggest_float("x", -5, 5) ** 2, n_trials=3)
assert sorted(trial.number for trial in kept.get_trials()) == [0, 1, 2]
assert kept.best_params["x"] ** 2 == kept.best_value
print(json.dumps({"run": found["run_id"][0]}))
