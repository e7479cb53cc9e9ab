"""The REST protocol of MLflow's tracking server, for its unmodified clients.

`/mlflow/{org}[/{team}]` is the tracking URI. Handlers are plain functions from a `Call` to what is
sent as JSON; they register themselves in `experiments.mlflow.routes`.
"""
