"""REST: TensorBoard event files that a job sends, where the portal cannot read its folder."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from experiments import tensorboard
from experiments.api import serializers as s
from jobs.api.query import whole
from jobs.api.views import JobViewBase
from jobs.services.measure import targets_of
from portal.core.errors import InvalidInput, TooLarge
from portal.core.formatting import bytes_text
from portal.core.messages import Message
from portal.web.transfers import announced_size, body_chunks

MOST_BYTES = 16 << 20  # of a request; records of half of that are read


class JobEventFilesView(JobViewBase):
    permissions = {"POST": None}

    @extend_schema(
        parameters=[
            OpenApiParameter("path", str, required=True, description="Below the output folder."),
            OpenApiParameter("offset", int, required=True, description="Of the body in the file."),
            OpenApiParameter("size", int, required=True, description="Bytes of the whole file."),
        ],
        request={"application/octet-stream": OpenApiTypes.BINARY},
        responses=s.EventFileSerializer,
    )
    def post(self, request: Request, job: str) -> Response:
        """Send bytes of a TensorBoard event file, whose scalars become metrics of the job.

        The answer has the offset to send from next. With an empty body it tells only that.
        """
        query, row = request.query_params, self.job(job)
        targets_of(self.actor, row)  # before the first byte of the body
        path = query.get("path", "").replace("\x00", "")
        if not path:
            raise InvalidInput.at("path", Message("must be the path of the file"))
        if (announced_size(request._request) or 0) > MOST_BYTES:
            raise TooLarge(
                Message("A request may have at most {most}.", most=bytes_text(MOST_BYTES))
            )
        offset, size = whole("offset", query.get("offset")), whole("size", query.get("size"))
        data = b"".join(body_chunks(request._request)) if size else b""
        taken = tensorboard.take_bytes(
            actor=self.actor, job=row, path=path, offset=offset, size=size, data=data
        )
        return Response(taken._asdict())
