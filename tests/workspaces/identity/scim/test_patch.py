"""PATCH requests by the standard, Azure and Okta, with the resource expected afterwards."""

from __future__ import annotations

import pytest

from tests.each import each
from workspaces.identity.scim.patch import patched
from workspaces.identity.scim.schemas import ScimError, cleaned

EVE = {
    "userName": "eve",
    "displayName": "Eve",
    "active": True,
    "name": {"givenName": "Eve", "familyName": "Old"},
    "emails": [
        {"value": "e@x.example", "type": "work", "primary": True},
        {"value": "e@home.example", "type": "home"},
    ],
}
TEAM = {"displayName": "vision", "members": [{"value": "1"}, {"value": "2"}]}


def _ops(*operations):
    return {
        "schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
        "Operations": list(operations),
    }


USERS = {
    "Azure: deactivated, as text": (
        {"op": "Replace", "path": "active", "value": "False"},
        {"active": False},
    ),
    "Azure: deactivated, in an object": (
        {"op": "Replace", "value": {"active": "False"}},
        {"active": False},
    ),
    "Azure: an address by its type": (
        {"op": "Replace", "path": 'emails[type eq "work"].value', "value": "n@x.example"},
        {"emails": [{"value": "n@x.example", "type": "work", "primary": True}, EVE["emails"][1]]},
    ),
    "Azure: an address of a new type": (
        {"op": "Add", "path": 'emails[type eq "other"].value', "value": "o@x.example"},
        {"emails": [*EVE["emails"], {"type": "other", "value": "o@x.example"}]},
    ),
    "an address by a value with a bracket": (
        {"op": "Add", "path": 'emails[type EQ "a]b" and primary eq false].value', "value": "o@x"},
        {"emails": [*EVE["emails"], {"value": "o@x", "type": "a]b", "primary": False}]},
    ),
    "Azure: dotted names": (
        {
            "op": "Add",
            "value": {"name.givenName": "Eva", "name.familyName": "New", "displayName": "Eva"},
        },
        {"name": {"givenName": "Eva", "familyName": "New"}, "displayName": "Eva"},
    ),
    "Azure: a path with the schema prefix": (
        {
            "op": "Replace",
            "path": "urn:ietf:params:scim:schemas:core:2.0:User:displayName",
            "value": "E",
        },
        {"displayName": "E"},
    ),
    "Azure: the enterprise extension, which is not stored": (
        {
            "op": "Add",
            "path": "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department",
            "value": "R&D",
        },
        {},
    ),
    "Okta: deactivated": ({"op": "replace", "value": {"active": False}}, {"active": False}),
    "Okta: a whole name": (
        {"op": "replace", "path": "name", "value": {"givenName": "Eva"}},
        {"name": {"givenName": "Eva", "familyName": "Old"}},
    ),
    "standard: a sub-attribute": (
        {"op": "replace", "path": "name.familyName", "value": "New"},
        {"name": {"givenName": "Eve", "familyName": "New"}},
    ),
    "standard: a row is removed": (
        {"op": "remove", "path": 'emails[type eq "home"]'},
        {"emails": [EVE["emails"][0]]},
    ),
    "standard: an attribute is removed": (
        {"op": "remove", "path": "displayName"},
        {"displayName": None},
    ),
    "names in any case": (
        {"op": "REPLACE", "path": "DisplayName", "value": "E"},
        {"displayName": "E"},
    ),
    "another primary": (
        {
            "op": "add",
            "path": "emails",
            "value": [{"value": "p@x.example", "type": "work", "primary": True}],
        },
        {
            "emails": [
                {"value": "e@x.example", "type": "work"},
                EVE["emails"][1],
                {"value": "p@x.example", "type": "work", "primary": True},
            ]
        },
    ),
}
GROUPS = {
    "Azure: members are added": (
        {"op": "Add", "path": "members", "value": [{"value": "3"}]},
        ["1", "2", "3"],
    ),
    "Azure: a member is removed by the value": (
        {"op": "Remove", "path": "members", "value": [{"value": "1"}]},
        ["2"],
    ),
    "Azure: a member is added twice": (
        {"op": "Add", "path": "members", "value": [{"value": "2"}]},
        ["1", "2"],
    ),
    "Okta: a member is removed by a filter": (
        {"op": "remove", "path": 'members[value eq "1"]'},
        ["2"],
    ),
    "Okta: all members at once": (
        {"op": "replace", "path": "members", "value": [{"value": "9", "display": "x"}]},
        ["9"],
    ),
    "Okta: all members in an object": (
        {"op": "replace", "value": {"id": "g", "members": [{"value": "9"}]}},
        ["9"],
    ),
    "standard: all members are removed": ({"op": "remove", "path": "members"}, []),
    "a single member instead of a list": (
        {"op": "add", "path": "members", "value": {"value": "3"}},
        ["1", "2", "3"],
    ),
}


@each("name", USERS)
def test_patch_user_applies_operation(name):
    operation, changed = USERS[name]
    expected = {k: v for k, v in (EVE | changed).items() if v is not None}
    assert patched("User", EVE, _ops(operation)) == expected


@each("name", GROUPS)
def test_patch_group_applies_operation(name):
    operation, members = GROUPS[name]
    assert [
        m["value"] for m in patched("Group", TEAM, _ops(operation)).get("members", [])
    ] == members


def test_patch_group_with_okta_object_renames_it():
    assert (
        patched(
            "Group", TEAM, _ops({"op": "replace", "value": {"id": "g", "displayName": "sight"}})
        )["displayName"]
        == "sight"
    )


@each(
    "operation",
    [
        {"op": "move", "path": "x"},
        {"op": "remove"},
        {"op": "replace", "value": "x"},
        {"op": "replace", "path": "groups", "value": []},
        {"op": "replace", "path": "a b c", "value": 1},
        {"op": "replace", "path": "emails[type", "value": 1},
        {"op": "replace", "path": 7, "value": 1},
        {"op": "remove", "path": "userName"},
        {"op": "replace", "path": "active", "value": "maybe"},
        {"op": "replace", "path": 'emails[type eq "work"]', "value": []},
        {"op": "add", "path": 'emails[type eq "other"]', "value": []},
        {"op": "replace", "path": "userName", "value": " "},
    ],
)
def test_patch_with_invalid_operation_changes_nothing(operation):
    with pytest.raises(ScimError):
        patched(
            "User",
            EVE,
            _ops({"op": "replace", "path": "displayName", "value": "changed"}, operation),
        )
    assert EVE["displayName"] == "Eve"


def test_patch_applies_all_operations_to_a_copy():
    changed = patched(
        "User",
        EVE,
        _ops(
            {"op": "replace", "path": "name.givenName", "value": "A"},
            {"op": "replace", "path": "active", "value": False},
        ),
    )
    assert (
        changed["name"]["givenName"] == "A"
        and EVE["name"]["givenName"] == "Eve"
        and changed["active"] is False
    )


def test_cleaned_resource_keeps_known_attributes_in_canonical_case():
    assert cleaned(
        "User",
        {"USERNAME": "eve", "unknown": 1, "groups": [{"value": "g"}], "emails": "e@x.example"},
    ) == {"userName": "eve", "emails": [{"value": "e@x.example"}]}
