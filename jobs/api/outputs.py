"""REST: the outputs of a job, and what it saves itself where the portal cannot read its folder."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from datasets.storage import free_bytes_of
from jobs.api import serializers as s
from jobs.api.views import JobViewBase
from jobs.models import JobOutput
from jobs.saving.reports import find_output, open_output, report_output, save_reported
from jobs.saving.represent import JobOutputShape, output_rows
from portal.core.shapes import PageShape, whole_page
from workspaces.api.views import read


class OutputPlaceShape(TypedDict):
    kind: str
    repository: str
    room: Annotated[int, "Bytes that fit, by quota, disk and size of a file."]


class SavedShape(TypedDict):
    version: int | None


class JobOutputsView(JobViewBase):
    permissions = {"GET": None}

    def get(self, request: Request, job: str) -> PageShape[JobOutputShape]:
        """List the outputs of a job with the versions that it has made."""
        return whole_page(output_rows(self.job(job)))


class OwnOutputView(JobViewBase):
    """Base view of one output, for the token of the job."""

    def output(self, job: str, name: str, body: dict[str, Any]) -> JobOutput:
        return find_output(self.actor, self.job(job), name, body["index"])


class JobOutputView(OwnOutputView):
    permissions = {"POST": None, "PATCH": None}

    @extend_schema(request=s.OutputTaskSerializer)
    def post(self, request: Request, job: str, output: str) -> OutputPlaceShape:
        """Return where the job sends the files of an output. Only with the job's token."""
        row = self.output(job, output, read(s.OutputTaskSerializer, request))
        repository = open_output(actor=self.actor, row=row)
        free = free_bytes_of(repository)
        return {"kind": repository.kind, "repository": repository.name, "room": free}

    @extend_schema(request=s.OutputReportSerializer, responses={204: None})
    def patch(self, request: Request, job: str, output: str) -> Response:
        """Report why an output is not saved, or that nothing follows. Only with the job's token."""
        body = read(s.OutputReportSerializer, request)
        row = self.output(job, output, body)
        report_output(row=row, message=body["message"], is_end=body["is_end"])
        return Response(status=status.HTTP_204_NO_CONTENT)


class JobOutputVersionsView(OwnOutputView):
    permissions = {"POST": None}

    @extend_schema(request=s.SavedFilesSerializer, responses={201: SavedShape})
    def post(self, request: Request, job: str, output: str) -> Response:
        """Make a version of files that the job has sent. Idempotent; only with the job's token."""
        body = read(s.SavedFilesSerializer, request)
        version = save_reported(
            actor=self.actor,
            row=self.output(job, output, body),
            files={file["path"]: file["sha256"] for file in body["files"]},
            left_out=body["left_out"],
            cut={file["path"]: file["sha256"] for file in body["cut"]},
            note=body["note"],
            is_end=body["is_end"],
        )
        return Response(
            {"version": version.number if version else None}, status=status.HTTP_201_CREATED
        )
