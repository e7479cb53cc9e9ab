"""Print the parameters of each route of MLflow's protocol; `x_NAME` is a part of a path."""

import json
import re

import mlflow.protos.databricks_pb2 as options
import mlflow.protos.mlflow_artifacts_pb2 as artifacts
import mlflow.protos.model_registry_pb2 as registry
import mlflow.protos.service_pb2 as tracking

found = {}
for module in (tracking, registry, artifacts):
    for service in module.DESCRIPTOR.services_by_name.values():
        for method in service.methods:
            for endpoint in method.GetOptions().Extensions[options.rpc].endpoints:
                path = endpoint.path.lstrip("/").removeprefix("mlflow/")
                path = re.sub(r"[{<](?:\w+[.:])?(\w+)[}>]", r"x_\1", path)
                fields = found.setdefault(f"{endpoint.method} {path}", [])
                fields += [field.name for field in method.input_type.fields]
print(json.dumps(found))
