"""Train with scikit-learn's autologging, and load what it has stored."""

import json

import mlflow
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

mlflow.set_experiment("autolog")
mlflow.sklearn.autolog()
features, labels = load_iris(return_X_y=True)
with mlflow.start_run() as run:
    LogisticRegression(max_iter=50).fit(features, labels)
found = mlflow.MlflowClient().get_run(run.info.run_id)
uri = f"runs:/{run.info.run_id}/model"
model = mlflow.sklearn.load_model(uri)
assert (model.predict(features) == labels).mean() > 0.9
version = mlflow.register_model(uri, "iris")
loaded = mlflow.sklearn.load_model(f"models:/iris/{version.version}")
assert (loaded.predict(features) == model.predict(features)).all()
print(
    json.dumps(
        {
            "params": found.data.params,
            "metrics": sorted(found.data.metrics),
            "datasets": len(found.inputs.dataset_inputs),
            "version": str(version.version),
        }
    )
)
