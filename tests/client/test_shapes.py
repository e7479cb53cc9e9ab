"""Check what the command line says of the API's answers against their generated types."""

from __future__ import annotations

import copy
import importlib
import json
import pkgutil
from dataclasses import fields
from typing import Any, get_type_hints, is_typeddict

from muster import commands, shapes
from muster.output import Column, Listing, Session
from muster.records import Attempt, Job


def types() -> dict[str, Any]:
    """Return the shapes of all apps by name."""
    modules = [
        importlib.import_module(f"{shapes.__name__}.{found.name}")
        for found in pkgutil.iter_modules(shapes.__path__)
    ]
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if is_typeddict(value)
    }


def listings() -> dict[str, Listing]:
    modules = [
        importlib.import_module(f"{commands.__name__}.{found.name}")
        for found in pkgutil.iter_modules(commands.__path__)
    ]
    return {
        f"{module.__name__}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Listing)
    }


def test_columns_of_lists_are_fields_of_their_shapes():
    found = listings()
    unknown = [
        f"{name}: {key}"
        for name, listing in found.items()
        for key in (listing.id, *(column.key for column in listing.columns))
        if isinstance(key, str) and key and key not in get_type_hints(types()[listing.shape])
    ]
    assert unknown == [] and len(found) >= 2


def test_attributes_of_records_are_fields_of_their_shapes():
    for record, shape in ((Job, "JobShape"), (Attempt, "AttemptShape")):
        names = {one.name for one in fields(record)} - {"raw", "array_size"}
        assert names - get_type_hints(types()[shape]).keys() == set()


def test_job_has_the_other_fields_of_its_answer_as_attributes():
    job = Job.of({"id": "1", "number": 1, "name": "a", "state": "running", "is_held": True})
    assert job.is_held is True and copy.copy(job) == job and not hasattr(job, "colour")


def test_types_of_all_shapes_exist():
    found = types()
    assert all(get_type_hints(one) for one in found.values()) and len(found) >= 90


def test_show_list_prints_table_ids_or_page(capsys):
    page = {"items": [{"name": "n\x1b1", "size": 2}], "next": None}
    double = Column(">Double", "", lambda row: row["size"] * 2)
    listing = Listing("", "name", (Column("Name", "name"), double))

    def printed(page, **options):
        Session(**options).show_list(page, listing, "Nothing.")
        return capsys.readouterr().out

    assert printed(page) == "Name  Double\nn 1        4\n"
    assert printed(page, quiet=True) == "n 1\n"
    assert json.loads(printed(page, json=True)) == page
    assert printed({"items": []}) == "Nothing.\n"
