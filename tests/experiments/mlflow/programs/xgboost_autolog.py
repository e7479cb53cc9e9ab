"""Train XGBoost with autologging, and load the booster that it has stored."""

import json

import mlflow
import xgboost
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

mlflow.xgboost.autolog()
mlflow.set_experiment("xgboost")
features, labels = load_breast_cancer(return_X_y=True, as_frame=True)
seen, unseen, seen_labels, unseen_labels = train_test_split(features, labels, random_state=0)
held_out = xgboost.DMatrix(unseen, unseen_labels)
with mlflow.start_run() as run:
    booster = xgboost.train(
        {"objective": "binary:logistic", "max_depth": 3, "eval_metric": "logloss"},
        xgboost.DMatrix(seen, seen_labels),
        num_boost_round=20,
        evals=[(held_out, "validation")],
        verbose_eval=False,
    )
loaded = mlflow.xgboost.load_model(f"runs:/{run.info.run_id}/model")
assert (loaded.predict(held_out) == booster.predict(held_out)).all()
print(json.dumps({"run": run.info.run_id}))
