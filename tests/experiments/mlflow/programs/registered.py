"""Register models that a run has logged, and find them again."""

import json
import tempfile
from pathlib import Path

import mlflow
from mlflow import MlflowClient

client = MlflowClient()
mlflow.set_experiment("registry")
with mlflow.start_run() as run:
    mlflow.log_text("flavors: {}\nmodel_uuid: x\n", "net/MLmodel")
    mlflow.log_text("weights", "net/data/weights.bin")
client.create_registered_model("net", tags={"task": "vision"}, description="A net.")
for _ in range(2):
    version = client.create_model_version(
        "net", f"{run.info.artifact_uri}/net", run.info.run_id, tags={"a": "b"}
    )
assert (version.version, version.status) in {("2", "READY"), (2, "READY")}, version
client.set_registered_model_alias("net", "champion", "1")
assert str(client.get_model_version_by_alias("net", "champion").version) == "1"
model = client.get_registered_model("net")
assert model.tags == {"task": "vision"} and model.description == "A net."
assert {a: str(v) for a, v in model.aliases.items()} == {"champion": "1"}
client.update_model_version("net", "1", description="The first.")
client.set_model_version_tag("net", "1", "judged", "good")
assert client.get_model_version("net", "1").tags == {"a": "b", "judged": "good"}
client.transition_model_version_stage("net", "2", "Staging")
assert [str(v.version) for v in client.get_latest_versions("net", ["Staging"])] == ["2"]
found = client.search_model_versions("name = 'net' and tags.judged = 'good'")
assert [str(v.version) for v in found] == ["1"]
found = client.search_model_versions(f"run_id = '{run.info.run_id}'")
assert {str(v.version) for v in found} == {"1", "2"}
assert [m.name for m in client.search_registered_models("name LIKE 'n%'")] == ["net"]
uri = client.get_model_version_download_uri("net", "1")
with tempfile.TemporaryDirectory() as folder:
    path = mlflow.artifacts.download_artifacts(uri, dst_path=folder)
    assert Path(path, "data", "weights.bin").read_text() == "weights"
    path = mlflow.artifacts.download_artifacts("models:/net@champion", dst_path=folder)
    assert Path(path, "MLmodel").exists()
client.delete_registered_model_alias("net", "champion")
client.delete_model_version("net", "2")
client.rename_registered_model("net", "net2")
assert client.get_registered_model("net2").name == "net2"
client.delete_registered_model("net2")
print(json.dumps({"models": [m.name for m in client.search_registered_models()]}))
