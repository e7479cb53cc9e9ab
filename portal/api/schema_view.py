"""`/api/schema/`: the OpenAPI schema. It is the same for everybody, and takes a second to make."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView


class SchemaView(SpectacularAPIView):
    """Return the schema as YAML or JSON, made once per process and format."""

    @extend_schema(exclude=True)
    def get(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        renderer = request.accepted_renderer
        return HttpResponse(
            _schema(renderer.format),
            content_type=f"{renderer.media_type}; charset=utf-8",
            headers={"Content-Disposition": f'inline; filename="muster.{renderer.format}"'},
        )


@cache
def _schema(form: str) -> bytes:
    kinds: list[Any] = SchemaView.renderer_classes
    renderer = next(kind for kind in kinds if kind.format == form)()
    schema = SchemaView.generator_class().get_schema(request=None, public=True)
    text: bytes = renderer.render(schema, renderer_context={})
    return text
