"""Apply PATCH requests (RFC 7644, 3.5.2), including the dialects of Azure and Okta. Pure."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from typing import Any

from workspaces.identity.scim.filters import Predicate, parse
from workspaces.identity.scim.schemas import ScimError, attributes_of, checked

MOST = 1000
_TEXT = r'"(?:[^"\\]|\\.)*"'
_PATH = re.compile(
    rf"(?P<name>[A-Za-z$][\w$-]*)(?:\[(?P<filter>(?:{_TEXT}|[^\"\]])*)\])?"
    r"(?:\.(?P<sub>[A-Za-z$][\w$-]*))?"
)


def patched(kind: str, resource: Mapping[str, Any], body: Any) -> dict[str, Any]:
    """Return the resource after all operations; if one fails, none applies. Raises ScimError."""
    operations = _operations(body)
    changed = copy.deepcopy(dict(resource))
    for operation in operations:
        _apply(kind, changed, operation)
    for attribute in attributes_of(kind):
        if attribute["required"] and not str(changed.get(attribute["name"]) or "").strip():
            raise ScimError(400, f"{attribute['name']} is required.", "invalidValue")
    return {name: value for name, value in changed.items() if value not in (None, [], {})}


def _operations(body: Any) -> list[Mapping[str, Any]]:
    given = (
        next((value for key, value in body.items() if key.lower() == "operations"), None)
        if isinstance(body, Mapping)
        else None
    )
    if (
        not isinstance(given, list)
        or not given
        or len(given) > MOST
        or not all(isinstance(one, Mapping) for one in given)
    ):
        raise ScimError(
            400, f"Operations must be a list of 1 to {MOST} operations.", "invalidSyntax"
        )
    return given


def _apply(kind: str, resource: dict[str, Any], operation: Mapping[str, Any]) -> None:
    verb, path, value = (
        str(operation.get("op", "")).lower(),
        operation.get("path"),
        operation.get("value"),
    )
    if verb not in ("add", "replace", "remove"):
        raise ScimError(400, f"Unknown operation {verb[:20]!r}.", "invalidSyntax")
    if not path:
        if verb == "remove":
            raise ScimError(400, "remove requires a path.", "noTarget")
        if not isinstance(value, Mapping):
            raise ScimError(400, "Without a path, the value must be an object.", "invalidValue")
        # as Okta sends it; Azure uses "name.givenName" and whole paths as names
        for name, part in value.items():
            if name.lower() not in ("schemas", "id", "meta"):
                _apply_at_path(kind, resource, verb, str(name), part)
        return
    if not isinstance(path, str):
        raise ScimError(400, "path must be a string.", "invalidPath")
    _apply_at_path(kind, resource, verb, path, value)


def _apply_at_path(kind: str, resource: dict[str, Any], verb: str, path: str, value: Any) -> None:
    bare = re.sub(r"^urn:[\w:.]*?:2\.0:(User|Group):", "", path, flags=re.IGNORECASE)
    found = _PATH.fullmatch(bare.strip())
    attribute = found and next(
        (a for a in attributes_of(kind) if a["name"].lower() == found["name"].lower()), None
    )
    if not found and not bare.lower().startswith("urn:"):
        raise ScimError(400, f"{path[:80]!r} isn't a valid path.", "invalidPath")
    if not found or attribute is None:
        return  # an attribute that we do not store, as in a whole resource
    if attribute["mutability"] == "readOnly":
        raise ScimError(400, f"{attribute['name']} is read-only.", "mutability")
    if attribute["multiValued"]:
        _apply_to_rows(resource, attribute, verb, found, value)
    elif found["sub"] and attribute["type"] == "complex":
        _set_sub_attribute(
            resource.setdefault(attribute["name"], {}), attribute, verb, found["sub"], value
        )
    elif found["filter"] or found["sub"]:
        raise ScimError(400, f"{attribute['name']} has no such sub-attribute.", "invalidPath")
    elif verb == "remove":
        resource.pop(attribute["name"], None)
    elif attribute["type"] == "complex" and isinstance(value, Mapping):
        resource[attribute["name"]] = (resource.get(attribute["name"]) or {}) | checked(
            attribute, value
        )
    else:
        resource[attribute["name"]] = checked(attribute, value)


def _apply_to_rows(
    resource: dict[str, Any], attribute: dict[str, Any], verb: str, found: re.Match[str], value: Any
) -> None:
    name = attribute["name"]
    rows = resource.setdefault(name, [])
    if found["filter"] is not None:
        _apply_to_matches(resource, attribute, verb, found, value)
    elif found["sub"]:
        for row in rows:
            _set_sub_attribute(row, attribute, verb, found["sub"], value)
    elif verb == "remove":
        # Azure lists the members in the value
        gone = None if value is None else {each.get("value") for each in checked(attribute, value)}
        resource[name] = (
            [] if gone is None else [row for row in rows if row.get("value") not in gone]
        )
    elif verb == "replace":
        resource[name] = _without_duplicates(checked(attribute, value))
    else:
        resource[name] = _without_duplicates(rows + checked(attribute, value))


def _apply_to_matches(
    resource: dict[str, Any], attribute: dict[str, Any], verb: str, found: re.Match[str], value: Any
) -> None:
    """Apply an operation to the rows that match, as in `emails[type eq "work"].value`.

    Azure adds to a row that does not exist yet; it is created from the filter.
    """
    fits, name, sub = parse(found["filter"]), attribute["name"], found["sub"]
    rows = [row for row in resource[name] if fits(row)]
    if verb == "remove" and not sub:
        resource[name] = [row for row in resource[name] if not fits(row)]
    elif not rows and verb != "remove":
        made = _row_from_filter(attribute, found["filter"], fits)
        _set_sub_attribute(made, attribute, verb, sub or "value", value) if sub or not isinstance(
            value, Mapping
        ) else made.update(_single_row(attribute, value))
        resource[name].append(made)
    else:
        for row in rows:
            _set_sub_attribute(row, attribute, verb, sub, value) if sub else row.update(
                _single_row(attribute, value)
            )


def _single_row(attribute: dict[str, Any], value: Any) -> dict[str, Any]:
    """Return the only row in a value; refuse several or none."""
    rows: list[dict[str, Any]] = checked(attribute, value)
    if len(rows) != 1:
        raise ScimError(
            400, f"{attribute['name']}: a path with a filter takes a single value.", "invalidValue"
        )
    return rows[0]


def _row_from_filter(attribute: dict[str, Any], text: str, fits: Predicate) -> dict[str, Any]:
    found = re.findall(rf"([\w$]+)\s+eq\s+({_TEXT}|true|false)", text, re.IGNORECASE)
    made = {
        name: json.loads(value if value.startswith('"') else value.lower()) for name, value in found
    }
    row = _single_row(attribute, made)
    if not fits(row):
        raise ScimError(400, "Nothing matches the filter in the path.", "noTarget")
    return row


def _set_sub_attribute(
    row: dict[str, Any], attribute: dict[str, Any], verb: str, name: str, value: Any
) -> None:
    sub = next((a for a in attribute["subAttributes"] if a["name"].lower() == name.lower()), None)
    if sub is None:
        return
    if verb == "remove":
        row.pop(sub["name"], None)
    else:
        row[sub["name"]] = checked(sub, value)


def _without_duplicates(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Remove duplicates, keeping the later one, and keep only one row primary."""
    found = {(row.get("value"), row.get("type")): row for row in rows}
    kept = list(found.values())
    primary = [row for row in kept if row.get("primary")]
    for row in primary[:-1]:
        row.pop("primary")
    return kept
