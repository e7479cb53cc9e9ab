"""Schemas of users and groups (RFC 7643), and validation of resources against them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

USER, GROUP = (
    "urn:ietf:params:scim:schemas:core:2.0:User",
    "urn:ietf:params:scim:schemas:core:2.0:Group",
)
LIST, PATCH = (
    "urn:ietf:params:scim:api:messages:2.0:ListResponse",
    "urn:ietf:params:scim:api:messages:2.0:PatchOp",
)
LONGEST, MOST = 1000, 20_000
MOST_RESULTS = 1000
_TRUE, _FALSE = ("true",), ("false",)


class ScimError(Exception):
    """An error in the protocol's format (RFC 7644, 3.12)."""

    def __init__(self, status: int, detail: str, kind: str = ""):
        super().__init__(detail)
        self.status, self.detail, self.kind = status, detail, kind

    def as_dict(self) -> dict[str, Any]:
        body = {
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:Error"],
            "status": str(self.status),
            "detail": self.detail,
        }
        return body | ({"scimType": self.kind} if self.kind else {})


def _attribute(
    name: str,
    kind: str = "string",
    *,
    note: str = "",
    many: bool = False,
    required: bool = False,
    writable: bool = True,
    unique: str = "none",
    inside: tuple[dict[str, Any], ...] = (),
    **more: Any,
) -> dict[str, Any]:
    made = {
        "name": name,
        "type": kind,
        "multiValued": many,
        "description": note or name,
        "required": required,
        "caseExact": False,
        "mutability": "readWrite" if writable else "readOnly",
        "returned": "default",
        "uniqueness": unique,
    } | more
    return made | ({"subAttributes": list(inside)} if inside else {})


_USER_ATTRIBUTES = (
    _attribute(
        "userName",
        note="The login name at the identity provider.",
        required=True,
        unique="server",
    ),
    _attribute(
        "name",
        "complex",
        inside=(_attribute("formatted"), _attribute("familyName"), _attribute("givenName")),
    ),
    _attribute("displayName", note="The name shown to others."),
    _attribute("active", "boolean", note="Whether the person has access."),
    _attribute(
        "emails",
        "complex",
        many=True,
        inside=(_attribute("value"), _attribute("type"), _attribute("primary", "boolean")),
    ),
    _attribute(
        "groups",
        "complex",
        many=True,
        writable=False,
        note="The user's groups.",
        inside=(
            _attribute("value", writable=False),
            _attribute("$ref", "reference", writable=False, referenceTypes=["Group"]),
            _attribute("display", writable=False),
        ),
    ),
)
_GROUP_ATTRIBUTES = (
    _attribute(
        "displayName", note="The name that group rules refer to.", required=True, unique="server"
    ),
    _attribute(
        "members",
        "complex",
        many=True,
        note="Users of this provider.",
        inside=(
            _attribute("value", mutability="immutable", required=True),
            _attribute("$ref", "reference", writable=False, referenceTypes=["User"]),
            _attribute("display", writable=False),
        ),
    ),
)
SCHEMAS: dict[str, dict[str, Any]] = {
    urn: {
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
        "id": urn,
        "name": name,
        "description": f"{name}s of one provider.",
        "attributes": list(attributes),
    }
    for urn, name, attributes in (
        (USER, "User", _USER_ATTRIBUTES),
        (GROUP, "Group", _GROUP_ATTRIBUTES),
    )
}
TYPES: dict[str, dict[str, Any]] = {
    name: {
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
        "id": name,
        "name": name,
        "endpoint": f"/{name}s",
        "description": f"{name}s of one provider.",
        "schema": urn,
    }
    for name, urn in (("User", USER), ("Group", GROUP))
}
CONFIG: dict[str, Any] = {
    "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
    "patch": {"supported": True},
    "bulk": {"supported": False, "maxOperations": 0, "maxPayloadSize": 0},
    "filter": {"supported": True, "maxResults": MOST_RESULTS},
    "changePassword": {"supported": False},
    "sort": {"supported": True},
    "etag": {"supported": True},
    "authenticationSchemes": [
        {
            "type": "oauthbearertoken",
            "name": "Bearer token",
            "description": "The token from the provider's page.",
            "primary": True,
        }
    ],
}


def attributes_of(kind: str) -> list[dict[str, Any]]:
    """Return the attributes of a resource type, with those common to all resources."""
    common = [_attribute("externalId"), _attribute("id", writable=False)]
    return common + list(SCHEMAS[TYPES[kind]["schema"]]["attributes"])


def cleaned(kind: str, given: Any) -> dict[str, Any]:
    """Validate a whole resource and return the attributes that we store, in canonical spelling.

    Unknown attributes are dropped, as clients may send more than we support. Raises ScimError.
    """
    if not isinstance(given, Mapping):
        raise ScimError(400, "The body must be a single resource.", "invalidSyntax")
    found = {}
    for attribute in attributes_of(kind):
        value = _get(given, attribute["name"])
        if value is not None and attribute["mutability"] != "readOnly":
            found[attribute["name"]] = checked(attribute, value)
    for attribute in attributes_of(kind):
        if attribute["required"] and not str(found.get(attribute["name"], "")).strip():
            raise ScimError(400, f"{attribute['name']} is required.", "invalidValue")
    return {name: value for name, value in found.items() if value not in ([], {})}


def checked(attribute: Mapping[str, Any], value: Any) -> Any:
    """Validate the value of one attribute. Raises ScimError."""
    if attribute["multiValued"]:
        values = value if isinstance(value, list) else [value]
        if len(values) > MOST:
            raise ScimError(413, f"{attribute['name']}: more than {MOST} values.")
        return [_checked_value(attribute, each) for each in values]
    return _checked_value(attribute, value)


def _checked_value(attribute: Mapping[str, Any], value: Any) -> Any:
    name, kind = attribute["name"], attribute["type"]
    if kind == "complex":
        if not isinstance(value, Mapping):
            value = {"value": value}  # the short form of Okta and Azure
        inside = {a["name"]: _get(value, a["name"]) for a in attribute["subAttributes"]}
        if missing := [
            a["name"]
            for a in attribute["subAttributes"]
            if a["required"] and inside[a["name"]] in (None, "")
        ]:
            raise ScimError(400, f"Each of {name} needs a {missing[0]}.", "invalidValue")
        return {
            a["name"]: _checked_value(a, inside[a["name"]])
            for a in attribute["subAttributes"]
            if inside[a["name"]] is not None
        }
    if kind == "boolean":
        if isinstance(value, bool):
            return value
        if str(value).lower() in _TRUE + _FALSE:  # Azure sends "True"
            return str(value).lower() in _TRUE
        raise ScimError(400, f"{name} must be true or false.", "invalidValue")
    if (
        not isinstance(value, str)
        or len(value) > LONGEST
        or not value.replace("\n", "").isprintable()
    ):
        raise ScimError(
            400, f"{name} must be a string of at most {LONGEST} characters.", "invalidValue"
        )
    return value


def _get(given: Mapping[str, Any], name: str) -> Any:
    """Return an attribute by its case-insensitive name (RFC 7643, 2.1)."""
    if name in given:
        return given[name]
    return next(
        (
            value
            for key, value in given.items()
            if isinstance(key, str) and key.lower() == name.lower()
        ),
        None,
    )
