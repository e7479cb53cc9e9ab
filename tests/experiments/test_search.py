"""MLflow's filter language: what passes, in which order, and what is refused where."""

from __future__ import annotations

import json
import re
from math import inf, isnan, nan
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments import selectors, services
from experiments.models import Run, Trace
from experiments.search import (
    Dataset,
    page_of,
    parse_filter,
    search_experiments,
    search_logged_models,
    search_model_versions,
    search_registered_models,
    search_runs,
    search_traces,
)
from experiments.services.traces import TraceFacts
from portal.blobs.store import file_store
from portal.core.errors import InvalidInput
from registry import selectors as selectors_of_models
from registry import services as registry
from registry.services.versions import About
from registry.sources import SourceFile
from tests.experiments.test_services import ada, experiment, new_runs, point  # noqa: F401  fixtures

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home"), pytest.mark.both_databases]

RUNS = [
    {"name": "Alpha", "metrics": {"loss": 0.5, "val/acc": 0.9}, "params": {"lr": "0.1", "7": "x"}},
    {"name": "beta", "metrics": {"loss": nan}, "params": {"lr": "0.01"}, "tags": {"a b": "50%_x"}},
    {"name": "gamma", "metrics": {"loss": inf}, "tags": {"a b": "", "mlflow.user": "eve@x"}},
    {"name": "delta", "metrics": {"loss": -inf}, "status": "FINISHED", "ended_ms": 9},
    {
        "name": "Ünit 'q'",
        "params": {"lr": "[a*]?", "학습률": "Größe"},
        "tags": {"équipe": "vision"},
        "inputs": [("mnist", "d1", "train")],
    },
    {
        "name": "zeta",
        "metrics": {"loss": -1e300},
        "inputs": [("cifar", "d2", ""), ("mnist", "d3", "")],
    },
]
TABLE = [
    ("", "Alpha beta gamma delta Ünit zeta"),
    ("metrics.loss < 1", "Alpha delta zeta"),
    ("metrics.loss >= 0.5", "Alpha gamma"),
    ("metric.`loss` != .5", "beta gamma delta zeta"),  # NaN differs from every number
    ("metrics.loss = 5e-1", "Alpha"),
    ("metrics.loss <= -1e300", "delta zeta"),
    ('metrics."val/acc" > 0.8', "Alpha"),
    ("metrics.val/acc>0.8", "Alpha"),
    ("params.lr = '0.1'", "Alpha"),
    ("params.lr != '0.1'", "beta Ünit"),
    ("param.7 = 'x' AND parameters.lr LIKE '0.%'", "Alpha"),
    ("params.lr LIKE '[a*]?'", "Ünit"),
    ("params.lr is null and metrics.loss > -1", "gamma"),
    ("params.lr IS NOT NULL", "Alpha beta Ünit"),
    ("tags.`a b` = ''", "gamma"),
    ("params.`학습률` = 'Größe' and params.학습률 LIKE 'Grö%'", "Ünit"),
    ("params.`학습률` ILIKE 'GRÖ%' and run_name ILIKE 'ünit%'", "Ünit"),
    ("params.`학습률` IS NULL and tags.équipe = 'vision'", ""),
    ("tags.`équipe` IS NULL and params.lr IS NOT NULL", "Alpha beta"),
    ("tags.\"a b\" LIKE '50_\\_x'", ""),
    ("tags.\"a b\" LIKE '50__x'", "beta"),
    ("name = 'x'", None),
    ("run_name LIKE 'a%'", ""),
    ("attributes.run_name ILIKE 'a%'", "Alpha"),
    ("\"Run name\" = 'beta'", "beta"),
    ("tags.mlflow.runName = 'beta'", "beta"),
    ("run_name = 'Ünit ''q'''", "Ünit"),
    ("run_name = \"Ünit 'q'\"", "Ünit"),
    ("status = 'FINISHED'", "delta"),
    ("status NOT IN ('FINISHED', 'FAILED') and start_time < 1002", "Alpha beta"),
    ("end_time > 8", "delta"),
    ("end_time != 8", "delta"),
    ("user_id = 'eve@x'", "gamma"),
    ("attr.user_id LIKE 'ada@%' and created > 1003", "Ünit zeta"),
    ("datasets.name = 'mnist'", "Ünit zeta"),
    ("dataset.name != 'mnist'", "zeta"),
    ("datasets.digest IN ('d1', 'd2')", "Ünit zeta"),
    ("datasets.context = 'train'", "Ünit"),
    ("datasets.name ILIKE 'CIF%' and datasets.digest NOT IN ('d2')", "zeta"),
]


@pytest.fixture
def runs(ada, experiment):  # noqa: F811
    return new_runs(ada, experiment, RUNS)


def names(rows) -> list[str]:
    return [row.name.split()[0] for row in rows]


def test_filter_returns_the_runs_that_pass(ada, runs):  # noqa: F811
    wrong = []
    for text, expected in TABLE:
        if expected is None:
            continue
        found = sorted(names(search_runs(selectors.visible_runs(ada), text)))
        if found != sorted(expected.split()):
            wrong.append(f"{text}: {found}")
    by_id = f"run_id IN ('{runs[0].id.hex}', 'nothing')"
    assert names(search_runs(Run.objects.all(), by_id)) == ["Alpha"]
    assert names(search_runs(Run.objects.all(), f"run_id LIKE '{runs[1].id.hex[:32]}'")) == ["beta"]
    uri = f"artifact_uri = 'mlflow-artifacts:/1/{runs[2].id.hex}/artifacts'"
    assert names(search_runs(Run.objects.all(), uri)) == ["gamma"]
    assert wrong == []


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ([], "zeta Ünit delta gamma beta Alpha"),
        (["metrics.loss"], "delta zeta Alpha gamma beta Ünit"),
        (["metrics.loss DESC"], "gamma Alpha zeta delta beta Ünit"),
        (["params.lr desc", "run_name ASC"], "Ünit Alpha beta delta gamma zeta"),
        (["tags.`a b`", "attributes.start_time ASC"], "gamma beta Alpha delta Ünit zeta"),
        (["params.`학습률`", "run_name"], "Ünit Alpha beta delta gamma zeta"),
        (["status", "created DESC"], "delta zeta Ünit gamma beta Alpha"),
        (["end_time DESC"], "delta zeta Ünit gamma beta Alpha"),
    ],
)
def test_pages_follow_the_order_with_missing_values_last(ada, runs, order, expected):  # noqa: F811
    rows = search_runs(selectors.visible_runs(ada), "", order)
    assert names(rows) == expected.split()
    found, token = page_of(rows, limit=1)
    # What comes and goes meanwhile shifts nothing
    services.create_run(actor=ada, experiment=found[0].experiment, name="new", started_ms=0)
    services.delete_runs(actor=ada, runs=found)
    while token:
        page, token = page_of(rows, limit=2, token=token)
        found += page
    assert [name for name in names(found) if name != "new"] == expected.split()


@pytest.mark.parametrize(
    ("text", "place", "part"),
    [
        ("metrics.loss <", 15, "number"),
        ("metrics.loss < 'a'", 16, "number"),
        ("params.lr = 0.1", 13, "quotes"),
        ("params.lr > '0.1'", 11, "LIKE"),
        ("metrics.loss LIKE 'a'", 14, "<="),
        ("metrics.a = 1 or metrics.b = 2", 15, "OR"),
        ("metrics.a = 1 and", 18, "AND"),
        ("metrics.a = 1 metrics.b = 2", 15, "AND"),
        ("things.a = 1", 1, "metrics"),
        ("nothing = 'a'", 1, "run_id"),
        ("datasets.source = 'a'", 1, "digest"),
        ("params. = 'a'", 8, "key"),
        ("params.a = 'b", 12, "quote"),
        ("params.a = 'b' ;", 16, "expected"),
        ("status IN ()", 12, "text"),
        ("params.a IN ('x')", 10, "IS NULL"),
        ("(params.a = 'x')", 1, "name"),
        ("params.a == 'x'", 10, "LIKE"),
    ],
)
def test_error_names_the_place_and_what_is_allowed(text, place, part):
    with pytest.raises(InvalidInput) as error:
        parse_filter(text)
    assert f"character {place} " in error.value.message
    assert part in error.value.message


def test_page_token_of_another_search_is_refused(ada, runs):  # noqa: F811
    rows = selectors.visible_runs(ada)
    _, token = page_of(search_runs(rows, "", ["metrics.loss"]), limit=1)
    for other in (token[:-8], "x", "bnVsbA==", token):
        with pytest.raises(InvalidInput):
            page_of(search_runs(rows, "", ["params.lr"]), limit=1, token=other)
    with pytest.raises(InvalidInput):
        search_runs(rows, "", ["metrics.a", "metric.a DESC"])


def test_experiments_are_searched_by_name_tags_and_times(story, ada, experiment):  # noqa: F811
    services.set_experiment_tags(actor=ada, experiment=experiment, tags={"stage": "final"})
    other = services.create_experiment(actor=ada, team=story.vision, name="bert", description="d")
    rows = selectors.visible_experiments(ada)
    at = int(other.created_at.timestamp() * 1000)
    for text, expected in (
        ("name LIKE 'res%'", [experiment]),
        ("tags.stage = 'final'", [experiment]),
        ("tags.mlflow.note.content = 'd' and tag.stage IS NULL", [other]),
        (f"creation_time = {at} and last_update_time >= {at}", [other]),
        (f"experiment_id IN ('{experiment.number}', '99')", [experiment]),
        ("", [other, experiment]),
    ):
        assert list(search_experiments(rows, text)) == expected, text
    assert list(search_experiments(rows, "", ["name DESC"])) == [experiment, other]
    with pytest.raises(InvalidInput):
        search_experiments(rows, "metrics.loss = 1")


def test_logged_models_are_searched(ada, experiment, runs):  # noqa: F811
    one = services.create_logged_model(
        actor=ada, experiment=experiment, name="net", run=runs[0], params={"k": "1"}
    )
    two = services.create_logged_model(actor=ada, experiment=experiment, name="tree")
    found = [{"key": "acc", "value": v, "timestamp": 1, "step": 0} for v in (0.5, nan)]
    services.log_logged_model_metrics(actor=ada, model=one, metrics=found[:1])
    services.log_logged_model_metrics(actor=ada, model=two, metrics=found[1:])
    rows = selectors.visible_logged_models(ada)
    for text, expected in (
        ("metrics.acc > 0.1", [one]),
        ("params.k = '1' and name LIKE 'n%'", [one]),
        (f"source_run_id = '{runs[0].id.hex}'", [one]),
        (f"model_id = 'm-{two.id.hex}'", [two]),
        ("status = 'LOGGED_MODEL_PENDING'", [two, one]),
    ):
        assert list(search_logged_models(rows, text)) == expected, text


def test_logged_models_are_sorted_by_the_last_metric_on_a_dataset(ada, experiment):  # noqa: F811
    def model(name: str, *points: tuple[str, float, int]):
        row = services.create_logged_model(actor=ada, experiment=experiment, name=name)
        found = [
            {"key": "acc", "value": v, "timestamp": step, "step": step, "dataset_name": dataset}
            for dataset, v, step in points
        ]
        services.log_logged_model_metrics(actor=ada, model=row, metrics=found)

    model("a", ("train", 0.1, 1), ("test", 0.8, 1), ("train", 0.95, 2))
    model("b", ("train", 0.9, 1), ("test", inf, 1))
    model("c", ("train", -inf, 1), ("test", 0.3, 1))
    model("d", ("train", nan, 1))
    model("e")
    rows, train, test = selectors.visible_logged_models(ada), Dataset("train"), Dataset("test")
    for order, dataset, expected in (
        ("metrics.acc DESC", train, "a b c e d"),
        ("metrics.acc ASC", train, "c b a e d"),
        ("metrics.`acc` DESC", test, "b a c e d"),
        ("metrics.acc DESC", Dataset("test", "x"), "e d c b a"),
    ):
        found = search_logged_models(rows, "", [order], order_datasets={"acc": dataset})
        page, token = page_of(found, limit=2)
        page += page_of(found, limit=9, token=token)[0]
        assert names(page) == expected.split(), order
    assert names(search_logged_models(rows, "metrics.acc > 0.5", datasets=[test])) == ["b", "a"]
    assert names(search_logged_models(rows, datasets=[test])) == ["c", "b", "a"]


def test_logged_models_without_names_get_different_ones(ada, experiment):  # noqa: F811
    rows = [services.create_logged_model(actor=ada, experiment=experiment) for _ in range(3)]
    assert len({row.name for row in rows}) == 3


def test_traces_are_searched_by_metadata_times_and_text(ada, experiment):  # noqa: F811
    def trace(name: str, started_ms: int, duration_ms: int | None, **facts):
        return services.save_trace(
            actor=ada,
            experiment=experiment,
            trace_id=f"tr-{name}",
            facts=TraceFacts(
                started_ms=started_ms,
                duration_ms=duration_ms,
                tags={"mlflow.traceName": name},
                **facts,
            ),
        )

    one = trace("chat", 1000, 50, state="OK", metadata={"mlflow.sourceRun": "r1", "a b": "x"})
    two = trace("Search", 2000, None, state="ERROR")
    rows = Trace.objects.all()
    for text, expected in (
        ("", [two, one]),
        ("trace.status = 'OK' and timestamp_ms < 1500", [one]),
        ("execution_time <= 50 and attributes.end_time_ms = 1050", [one]),
        ("name ILIKE 's%'", [two]),
        ("run_id IN ('r1', 'r2') and request_id LIKE 'tr-%'", [one]),
        ("request_metadata.`a b` = 'x'", [one]),
        ("metadata.`a b` IS NULL and tags.mlflow.traceName != 'chat'", [two]),
        ("trace.text LIKE '%nothing%'", []),
    ):
        assert list(search_traces(rows, text)) == expected, text
    by_time = search_traces(rows, "", ["execution_time_ms DESC"])
    found, token = page_of(by_time, limit=1)
    assert [*found, *page_of(by_time, limit=1, token=token)[0]] == [one, two]
    with pytest.raises(InvalidInput, match=r"metadata\.KEY"):
        search_traces(rows, "params.a = '1'")


def test_traces_are_searched_by_spans_assessments_and_prompts(ada, experiment):  # noqa: F811
    def span(name: str, kind: str, **attributes):
        given = {"mlflow.spanType": kind, **attributes}
        return {
            "name": name,
            "span_id": name,
            "start_time_unix_nano": "1000000",
            "status": {"code": "STATUS_CODE_OK"},
            "attributes": [
                {"key": key, "value": {"string_value": json.dumps(value, ensure_ascii=False)}}
                for key, value in given.items()
            ],
        }

    asked = {"q": 'Say "hi", 학습'}
    spans = [span("ask", "LLM", model="gpt", n=3, inputs=asked), span("Find", "RETRIEVER")]
    one, two = (
        services.add_spans(actor=ada, experiment=experiment, trace_id=f"tr-{n}", spans=given)
        for n, given in enumerate((spans, [span("ask", "TOOL", a_b="ÉTÉ")]))
    )
    old = [{"name": "old", "context": {}, "status_code": "ERROR", "attributes": {"k": '"v"'}}]
    three = services.add_spans(
        actor=ada, experiment=experiment, trace_id="tr-3", spans=[span("x", "y")]
    )
    services.save_span_file(actor=ada, trace=three, spans=old)
    for row, name, value in (
        (one, "ok", {"feedback": {"value": True}}),
        (one, "score", {"feedback": {"value": 0.5}}),
        (two, "score", {"feedback": {"value": 2}}),
        (two, "answer", {"expectation": {"value": "yes"}}),
    ):
        services.create_assessment(
            actor=ada, trace=row, assessment={"assessment_name": name, **value}
        )
    prompts = '[{"name": "p", "version": "1"}]'
    services.set_trace_tags(actor=ada, trace=one, tags={"mlflow.linkedPrompts": prompts})
    wrong = []
    for text, expected in (
        ("span.name = 'ask'", [one, two]),
        ("span.name = 'Find' and span.type = 'LLM'", []),
        ("span.name = 'ask' and span.type IN ('LLM', 'TOOL')", [one, two]),
        ("span.status = 'ERROR' and span.attributes.k = 'v'", [three]),
        ("span.attributes.model LIKE 'g%' and span.attributes.n = '3'", [one]),
        ("span.attributes.`a_b` ILIKE 'été'", [two]),
        ("trace.text LIKE '%Say \"hi\", 학습%'", [one]),
        ("text ILIKE '%retriever%'", [one]),
        ("span.content LIKE '%ÉTÉ%'", [two]),
        ("feedback.ok = 'true' and feedback.score < 1", [one]),
        ("feedback.ok = true", [one]),
        ("feedback.score >= 0.5", [one, two]),
        ("feedback.ok IS NULL and feedback.score IS NOT NULL", [two]),
        ("expectation.answer LIKE 'y%' and feedback.answer IS NULL", [two]),
        ("prompt = 'p/1'", [one]),
        ("prompt = 'p/2'", []),
    ):
        found = list(search_traces(Trace.objects.all(), text, ["experiment_id", "request_id"]))
        if found != expected:
            wrong.append(f"{text}: {found}")
    assert wrong == []
    for text, part in (("span.bogus = 'x'", "span.name"), ("prompt = 'p'", "NAME/VERSION")):
        with pytest.raises(InvalidInput, match=part):
            search_traces(Trace.objects.all(), text)


def test_registered_models_and_versions_are_searched(ada, story):  # noqa: F811
    models = [
        registry.create_model(actor=ada, team=story.vision, name=name, tags=tags)
        for name, tags in (("bert", {}), ("ask", {"mlflow.prompt.is_prompt": "true"}))
    ]
    run_id, stored = uuid4(), file_store().put(story.atlas.id, [b"weights"])
    versions = [
        registry.create_version(
            actor=ada,
            model=models[0],
            about=About(source=f"s{n}", run_id=run_id if n else None, tags={"stage": str(n)}),
            files=[SourceFile("w.bin", *stored)],
        )
        for n in range(2)
    ]
    rows = selectors_of_models.visible_models(ada)
    for text, order, expected in (
        ("", [], [models[1], models[0]]),
        ("tags.`mlflow.prompt.is_prompt` != 'true'", [], models[:1]),
        ("name ILIKE 'A%'", ["last_updated_time DESC"], models[1:]),
        ("creation_timestamp > 0", ["name DESC"], models),
    ):
        assert list(search_registered_models(rows, text, order)) == expected, text
    found = selectors_of_models.visible_versions(ada)
    for text, order, expected in (
        ("name = 'bert'", ["version_number ASC"], versions),
        ("version_number >= 2 and source_path LIKE 's%'", [], versions[1:]),
        (f"run_id IN ('{run_id.hex}')", [], versions[1:]),
        (f"run_id != '{run_id.hex}'", [], []),  # the other has none
        ("tags.stage != '0'", [], versions[1:]),
    ):
        assert list(search_model_versions(found, text, order)) == expected, text
    page, token = page_of(search_model_versions(found), limit=1)
    assert [*page, *page_of(search_model_versions(found), limit=1, token=token)[0]] == [
        versions[1],
        versions[0],
    ]


# A property: the database and Python agree on random runs and filters.

_TEXTS = st.sampled_from(["a", "A", "ab", "b%", "_", "a_b", "", "*"])
_NUMBERS = st.sampled_from([0.0, 1.0, -1.5, 2.0, inf, -inf, nan])
_KEYS = st.sampled_from(["k", "k/l", "7"])
_RUN = st.fixed_dictionaries(
    {
        "metrics": st.dictionaries(_KEYS, _NUMBERS, max_size=2),
        "params": st.dictionaries(_KEYS, _TEXTS, max_size=2),
    }
)
_CONDITION = st.one_of(
    st.tuples(
        st.just("metrics"),
        _KEYS,
        st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
        st.sampled_from([0.0, 1.0, -1.5, 3.0]),
    ),
    st.tuples(st.just("params"), _KEYS, st.sampled_from(["=", "!=", "LIKE", "ILIKE"]), _TEXTS),
    st.tuples(st.just("params"), _KEYS, st.sampled_from(["IS NULL", "IS NOT NULL"]), st.none()),
)


def passes(run: dict, kind: str, key: str, comparator: str, value) -> bool:
    """Return whether a run passes, in plain Python."""
    found = run[kind].get(key)
    if comparator in ("IS NULL", "IS NOT NULL"):
        return (found is None) == (comparator == "IS NULL")
    if found is None:
        return False
    if comparator in ("LIKE", "ILIKE"):
        shape = re.escape(value).replace("%", ".*").replace("_", ".")
        flags = re.DOTALL | (re.IGNORECASE if comparator == "ILIKE" else 0)
        return re.fullmatch(shape, found, flags) is not None
    if isinstance(found, float) and isnan(found):
        return comparator == "!="
    return {
        "=": found == value,
        "!=": found != value,
        "<": found < value,
        "<=": found <= value,
        ">": found > value,
        ">=": found >= value,
    }[comparator]


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(runs=st.lists(_RUN, max_size=5), conditions=st.lists(_CONDITION, max_size=3))
def test_database_and_python_agree_on_random_filters(ada, experiment, runs, conditions):  # noqa: F811
    Run.objects.all().delete()
    made = new_runs(ada, experiment, [{"name": str(n), **run} for n, run in enumerate(runs)])
    text = " and ".join(
        f'{kind}."{key}" {comparator}'
        + ("" if value is None else f" '{value}'" if isinstance(value, str) else f" {value}")
        for kind, key, comparator, value in conditions
    )
    expected = {
        row.id
        for row, run in zip(made, runs, strict=True)
        if all(passes(run, *one) for one in conditions)
    }
    assert {row.id for row in search_runs(Run.objects.all(), text)} == expected
