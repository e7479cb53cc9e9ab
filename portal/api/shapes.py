"""The OpenAPI schema of shapes (`portal.core.shapes`).

drf-spectacular itself inlines a TypedDict without the descriptions of its fields; pydantic loses
those of inherited fields.
"""

from __future__ import annotations

import inspect
import re
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import (
    append_meta,
    build_array_type,
    build_basic_type,
    build_object_type,
)

from portal.core.shapes import PageShape, TextFormat
from portal.core.states import titled

Part = dict[str, Any]


def is_shape(hint: Any) -> bool:
    """Return whether a type is a shape, such as `JobShape` or `PageShape[JobShape]`."""
    return is_typeddict(get_origin(hint) or hint)


class Schema(AutoSchema):
    """Read what a view answers from the return annotation of its method, if that is a shape."""

    def get_response_serializers(self) -> Any:
        method = inspect.unwrap(getattr(self.view, self.method.lower()))
        answer = get_type_hints(method, include_extras=True).get("return")
        return {200: answer} if is_shape(answer) else super().get_response_serializers()

    def get_operation_id(self) -> str:
        answers, found = self.get_response_serializers(), str(super().get_operation_id())
        is_page = isinstance(answers, dict) and PageShape in _generics(answers.get(200))
        return re.sub("_retrieve$", "_list", found) if is_page else found


class ShapeExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Make a shape a component: `JobShape` is `Job`, a page of it `PaginatedJobList`."""

    @classmethod
    def _matches(cls, target: Any) -> bool:
        return is_shape(target)

    def get_name(self, auto_schema: AutoSchema, direction: Any) -> str:
        if get_origin(self.target) is PageShape:
            [row] = get_args(self.target)
            return str(auto_schema.get_paginated_name(_name_of(row)))
        return _name_of(self.target)

    def map_serializer(self, auto_schema: AutoSchema, direction: Any) -> Part:
        shape = get_origin(self.target) or self.target
        hints = get_type_hints(shape, include_extras=True)
        arguments = _generics(self.target)
        parts = {name: _schema(auto_schema, hint, arguments) for name, hint in hints.items()}
        # `__required_keys__` does not know NotRequired in annotations that are texts
        needed = [n for n in shape.__required_keys__ if get_origin(hints[n]) is not NotRequired]
        return build_object_type(parts, needed, shape.__doc__)  # type: ignore[no-any-return]


def _name_of(shape: Any) -> str:
    return str(shape.__name__).removesuffix("Shape")


def _generics(shape: Any) -> dict[Any, Any]:
    """Return the generic shapes of a type, and the values of their type variables."""
    origin = get_origin(shape)
    found: dict[Any, Any] = {}
    for base in [shape] if origin else getattr(shape, "__orig_bases__", ()):
        generic = get_origin(base)
        if is_typeddict(generic):
            found |= {
                generic: base,
                **dict(zip(generic.__parameters__, get_args(base), strict=True)),
            }
    return found


def _schema(auto_schema: AutoSchema, hint: Any, arguments: Part) -> Part:
    """Return the schema of a field."""
    of = [argument for argument in get_args(hint) if argument is not NoneType]
    match get_origin(hint):
        case _ if hint is Any:
            found: Part = {}
        case _ if hint in arguments:
            found = _schema(auto_schema, arguments[hint], arguments)
        case _ if is_shape(hint):
            found = auto_schema.resolve_serializer(hint, "response").ref
        case origin if origin is Annotated:
            found = _annotated(_schema(auto_schema, of[0], arguments), of[1:])
        case origin if origin is NotRequired:
            found = _schema(auto_schema, of[0], arguments)
        case origin if origin is Union or origin is UnionType:
            found = _union([_schema(auto_schema, one, arguments) for one in of])
            if NoneType in get_args(hint):
                found = append_meta(found, {"nullable": True})
        case origin if origin is Literal:
            found = {"enum": of, "type": "string"}
        case origin if origin is list:
            found = build_array_type(_schema(auto_schema, of[0], arguments))
        case origin if origin is dict:
            values = _schema(auto_schema, of[1], arguments)
            found = {"type": "object", "additionalProperties": values}
        case _:
            found = build_basic_type(hint) or {}
    return found


def _annotated(schema: Part, annotations: list[Any]) -> Part:
    """Apply the descriptions and formats of `Annotated`; a title of states lists them."""
    for one in annotations:
        if isinstance(one, str) and (states := titled(one)):
            keys = {"enum": [state.key for state in states.states]}
            schema = append_meta(schema, {"description": states.described, **keys})
        elif isinstance(one, str):
            schema = append_meta(schema, {"description": one})
        elif isinstance(one, TextFormat):
            schema = {"type": "string", "format": one.name}
    return schema


def _union(parts: list[Part]) -> Part:
    return parts[0] if len(parts) == 1 else {"oneOf": parts}
