"""Upload a file in parts through the tracking server, and read it back."""

import json
import os
import tempfile
from pathlib import Path

os.environ |= {
    "MLFLOW_ENABLE_PROXY_MULTIPART_UPLOAD": "true",
    "MLFLOW_MULTIPART_UPLOAD_MINIMUM_FILE_SIZE": "1",
    "MLFLOW_MULTIPART_UPLOAD_CHUNK_SIZE": str(1 << 20),
}

import mlflow
from mlflow.store.artifact.http_artifact_repo import HttpArtifactRepository

upload_part, parts = HttpArtifactRepository._upload_part, []
HttpArtifactRepository._upload_part = staticmethod(
    lambda credential, *args, **kwargs: (
        parts.append(credential.part_number) or upload_part(credential, *args, **kwargs)
    )
)
data = os.urandom(3_500_000)
mlflow.set_experiment("parts")
with mlflow.start_run() as run, tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "weights ä.bin"
    file.write_bytes(data)
    mlflow.log_artifact(str(file), "model/data")
    uri = f"{run.info.artifact_uri}/model/data/weights ä.bin"
    assert Path(mlflow.artifacts.download_artifacts(uri)).read_bytes() == data
print(json.dumps({"parts": sorted(parts)}))
