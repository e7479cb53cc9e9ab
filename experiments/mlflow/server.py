"""What a client asks about the server itself."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from experiments.mlflow.calls import Call
from experiments.mlflow.routes import route

# The version of MLflow whose protocol this is. Clients compare it with their own.
VERSION = "3.17.2"


@route("GET", "health")
def health(call: Call) -> HttpResponse:
    return HttpResponse("OK", content_type="text/plain")


@route("GET", "version")
def version(call: Call) -> HttpResponse:
    return HttpResponse(VERSION, content_type="text/plain")


@route("GET", "server-info", fields="")
def server_info(call: Call) -> Any:
    return {
        "store_type": "Muster",
        "workspaces_enabled": True,  # a workspace is a team
        "trace_archival_enabled": False,
        "multipart_uploads_enabled": False,
        "multipart_downloads_enabled": False,
        "presigned_upload_run_id_supported": False,
        "presigned_upload_model_id_supported": False,
        "features_enabled": {"gateway": False},
    }
