"""YAML of users: what it becomes, and what it may cost. The safe loader of PyYAML is the reference."""

from __future__ import annotations

import json
import math
import time
from contextlib import suppress
from datetime import date

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from portal.core.yaml_documents import BadYaml, Limits, load
from schedulers.spec import parse_yaml
from schedulers.spec.errors import SpecErrors
from tests.cases import read_case
from tests.rig.seeds import examples

MERGES, ALIASES = (read_case(f"card-{name}.md").decode() for name in ("merge-25", "alias-7"))
MOST = 0.25  # seconds of CPU; quiet, each takes less than 0.05


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text() | st.floats(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=20,
    ).filter(lambda value: "\x85" not in str(value))
)
def test_plain_data_is_read_as_by_the_safe_loader(value):
    text = yaml.safe_dump(value, allow_unicode=True)
    expected = yaml.safe_load(text)
    found = load(text)
    assert json.loads(json.dumps(found)) == _plain(expected)


def _plain(value):
    if isinstance(value, float) and not math.isfinite(value):
        return yaml.safe_dump(value).splitlines()[0]
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


ODD = [
    ("{1: a, true: b, null: c, 2026-01-02: d}", {"1": "a", "true": "b", "null": "c", "2026-01-02": "d"}),
    ("[2026-01-02, 18446744073709551616, .nan, -.inf]", ["2026-01-02", str(2**64), ".nan", "-.inf"]),
    ("{a: !!binary aGk=, b: !!set {x, y}}", {"a": "aGk=", "b": {"x": None, "y": None}}),
    ("{a: &a {x: 1, y: 2}, b: {<<: *a, y: 3}}", {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}}),
    ("a: {<<: [{x: 1}, {x: 2, y: 2}]}", {"a": {"x": 1, "y": 2}}),
    ("", None),
]  # fmt: skip


def test_what_json_lacks_becomes_text(subtests):
    for text, expected in ODD:
        with subtests.test(text=text):
            found = load(text)
            assert found == expected and json.dumps(found)
    assert isinstance(yaml.safe_load("2026-01-02"), date)  # why it has to be said


REFUSED = {
    "merges": (MERGES.split("---")[1], "more than 10000 values"),
    "aliases": (ALIASES.split("---")[1], "more than 10000 values"),
    "long text": (f"a: &a {'x' * 200_000}\nb: [{'*a,' * 9}]", "more than 10000 values"),
    "deep": ("[" * 100_000, "nested more than 40"),
    "deep mappings": ("{a: " * 50_000, "nested more than 40"),
    "itself": ("&a [*a]", "nested more than 40"),
    "itself merged": ("&a {b: 1, <<: *a}", "nested more than 40"),
    "many": ("- a\n" * 60_000, "more than 10000 values"),
    "many aliases": ("- &a x\n" + "- *a\n" * 5000, "more than 1000 aliases"),
    "many merges": (
        "- &a {x: 1}\n" + "- {<<: [" + "*a," * 999 + "], z: 1}\n" * 20,
        "aliases|valid",
    ),
    "bytes": ("#" * 300_000, "300000 bytes"),
    "tag": ("!!python/object/apply:os.system [ls]", "tag"),
    "key": ("? [a]\n: b", "keys must be text"),
    "documents": ("a: 1\n---\nb: 2", "Line 2"),
    "surrogate": ('"\\ud83d"', "not valid YAML"),
}


def test_document_that_grows_is_refused_at_once(subtests):
    for name, (text, words) in REFUSED.items():
        with subtests.test(name=name):
            before = time.process_time()
            with pytest.raises(BadYaml, match=words):
                load(text)
            assert time.process_time() - before < MOST


def test_largest_documents_are_read_in_bounded_time(subtests):
    largest = {
        "items": "- a\n" * 9999,
        "keys": "".join(f"k{n}: v\n" for n in range(4999)),
        "number of base 60": "- " + ":".join(["59"] * 80_000),
        "digits": "- " + "9" * 250_000,
    }
    for name, text in largest.items():
        with subtests.test(name=name):
            before = time.process_time()
            assert load(text)
            assert time.process_time() - before < MOST


def test_limits_of_a_caller_are_respected():
    assert load("[1, 2, 3]", Limits(values=4)) == [1, 2, 3]
    with pytest.raises(BadYaml, match="more than 3 values"):
        load("[1, 2, 3]", Limits(values=3))


@pytest.mark.parametrize("text", ["!!bool x", "!!bool ''", "!!int ''", "!!int '-'", "!!float ''"])
def test_scalar_that_is_not_of_its_tag_is_text(text):
    assert load(text) == text.split(" ")[1].strip("'")


@given(st.text(alphabet="&*<>:a1 {}[],-\n'\"!|#%@\ud800", max_size=examples(60)))
def test_any_text_is_read_or_refused(text):
    with suppress(BadYaml):
        json.dumps(load(text), ensure_ascii=False).encode()


def test_job_specs_of_many_values_are_refused_in_bounded_time(subtests):
    for name, (text, _) in REFUSED.items():
        with subtests.test(name=name):
            before = time.process_time()
            with pytest.raises(SpecErrors):
                parse_yaml(text[:250_000])
            assert time.process_time() - before < 4 * MOST
