"""Random calls get the same answers from MLflow's own server and from the portal.

Where MLflow's server fails with 500 INTERNAL_ERROR, 400 or 404 of the portal is accepted: clients
repeat a 500 for minutes, and the request was wrong. Texts of errors, times and addresses may differ.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.rig.mlflow import start_mlflow_server
from tests.rig.processes import Folder

pytestmark = pytest.mark.integration

CALLS = 500
# What differs between two servers: times, addresses of files, and who called.
_MASKED = re.compile(
    r".*(time|timestamp|timestamp_ms)|artifact_(uri|location)|root_uri|user_id|workspace|message"
    r"|sqlstate|error_class|next_page_token|run_link"
)
_RUN_TIMES = {"start_time", "end_time", "timestamp"}  # given by the client
_IDS = {"experiment_id", "run_id", "run_uuid", "model_id", "source_run_id"}
# MLflow's server answers 500, which its clients repeat for minutes; and a name that is taken has
# two codes there.
_BETTER = {
    (500, "INVALID_STATE"): (400, "INVALID_STATE"),
    (400, "BAD_REQUEST"): (400, "RESOURCE_ALREADY_EXISTS"),
}
FILTERS = (
    "",
    "metrics.loss > 1",
    "metrics.loss <= 1 and params.lr = '0'",
    "metrics.acc != 2",
    "params.lr LIKE '%'",
    "params.lr != '1'",
    "params.lr IN ('0', '2')",
    "tags.kind = 'a'",
    "tags.kind ILIKE 'A%'",
    "attributes.status = 'RUNNING'",
    "attributes.run_name LIKE 'run-1%'",
    "start_time > 1010",
    "metrics.`loss` >= 0 and tags.`kind` != 'b'",
    "nonsense.loss > 1",
    "metrics.loss >",
    "params.lr > '1'",
    "metrics.loss = 'x'",
)
ORDERS = (
    [],
    ["metrics.loss DESC"],
    ["metrics.loss ASC"],
    ["params.lr DESC", "start_time ASC"],
    ["attributes.start_time"],
    ["tags.kind"],
    ["run_name DESC"],
    ["bogus.loss"],
)
MODEL_FILTERS = (
    "",
    "name LIKE 'model-%'",
    "name = 'model-1-a'",
    "name ILIKE 'MODEL-2%'",
    "tags.k != '1'",
    "nonsense > 1",
)
STAGES: tuple[list[str], ...] = ([], ["None"], ["Staging", "production"], ["nope"])


@dataclass
class Server:
    """One of the two servers; `ids` maps its ids to names that both share."""

    http: httpx.Client
    base: str
    ids: dict[str, str] = field(default_factory=dict)

    def send(self, method: str, path: str, data: Any) -> tuple[int, Any]:
        given = {shared: own for own, shared in self.ids.items()}
        data, path = _replaced(data, given), _replaced(path, given)
        kind = "params" if method == "GET" else "json"
        sent = (
            {"content": data}
            if isinstance(data, bytes)
            else {kind: {k: v for k, v in data.items() if v is not None}}
        )
        answer = self.http.request(method, f"{self.base}/api/2.0/{path}", **sent)
        try:
            found = answer.json()
        except ValueError:
            found = answer.text
        if isinstance(found, dict) and "error_code" in found:
            refusal = answer.status_code, found["error_code"]
            return _BETTER.get(refusal, refusal)
        return answer.status_code, found


def _replaced(data: Any, names: dict[str, str]) -> Any:
    if isinstance(data, str):
        return re.sub(r"<\w+>", lambda found: names[found[0]], data)
    if isinstance(data, list):
        return [_replaced(each, names) for each in data]
    if isinstance(data, dict):
        return {key: _replaced(each, names) for key, each in data.items()}
    return data


def _masked(data: Any, ids: dict[str, str]) -> Any:
    """Return an answer with shared ids, without what differs, and with pairs in order."""
    if isinstance(data, str) and data.startswith("mlflow-artifacts:/"):
        return "/".join(ids.get(part, part) for part in data.split("/"))
    if isinstance(data, dict):
        return {
            key: ids.get(each, each) if key in _IDS else _masked(each, ids)
            for key, each in data.items()
            if (key in _RUN_TIMES or not _MASKED.fullmatch(key))
            and not (key == "aliases" and "version" in data)  # there only in some answers
        }
    if isinstance(data, list):
        found = [_masked(each, ids) for each in data]
        if all(isinstance(each, dict) and "current_stage" in each for each in found):
            return sorted(found, key=lambda e: (e["name"], int(e["version"])))  # of no order there
        is_pairs = all(isinstance(each, dict) and {"key", "value"} <= each.keys() for each in found)
        return sorted(found, key=lambda e: (e["key"], e.get("step", 0))) if is_pairs else found
    return data


class Calls:
    """Generates calls. What it refers to exists on both servers, or on neither."""

    def __init__(self, seed: int) -> None:
        self._random, self._seed = random.Random(seed), seed
        self.base = f"<E{seed}x1>"  # the experiment of most runs
        self.experiments, self.runs, self.models = ["<E0>"], [], []
        self.empty: list[str] = []  # experiments without runs
        self._deck: list[int] = []  # the kinds of calls that come before all have been made again

    def __iter__(self) -> Iterator[tuple[str, str, Any]]:
        yield "POST", "mlflow/experiments/create", {"name": f"base-{self._seed}"}
        for n in range(3):
            yield "POST", "mlflow/runs/create", self._run(n)
        place = f"mlflow-artifacts/artifacts/{self.base}/{self.runs[0]}/artifacts/d/b.txt"
        yield "PUT", place, b"the file of the model versions"
        for n in range(3, CALLS):
            yield self._next(n)

    def _run(self, n: int) -> dict[str, Any]:
        return {
            "experiment_id": self.base,
            "run_name": f"run-{n}",
            "start_time": 1000 + n,
            "tags": [{"key": "kind", "value": self._random.choice("abc")}],
        }

    def _next(self, n: int) -> tuple[str, str, Any]:
        pick = self._random.choice
        run, key, value = (
            pick(self.runs),
            pick(["loss", "acc"]),
            pick([0, 1, 2.5, -1, "NaN", 1e300]),
        )
        name, experiment = f"name-{self._seed}-{self._random.randrange(6)}", pick(self.experiments)
        empty, model = pick(self.empty or ["99999"]), pick(self.models or ["m-" + "0" * 32])
        lr = {"key": pick(["lr", "depth", "bad!"]), "value": pick("012")}
        point = {
            "key": key,
            "value": value,
            "timestamp": 5000 + n,
            "step": self._random.randrange(9),
        }
        # The portal takes no files of a run in the trash; so the first three are never there.
        kept, gone = pick(self.runs[:3]), pick(self.runs[3:] or ["0" * 32])
        file = f"mlflow-artifacts/artifacts/{self.base}/{kept}/artifacts"
        file = f"{file}/{pick(['a', 'd/b', 'd/c/e'])}.txt"
        choices: list[tuple[str, str, Any]] = [
            ("POST", "mlflow/experiments/create", {"name": name}),
            ("POST", "mlflow/experiments/create", {"name": pick(["", None])}),
            ("GET", "mlflow/experiments/get", {"experiment_id": pick([experiment, "99999", "x"])}),
            ("GET", "mlflow/experiments/get-by-name", {"experiment_name": name}),
            (
                "POST",
                "mlflow/experiments/search",
                {
                    "max_results": pick([1, 50]),
                    "order_by": ["name DESC"],
                    "view_type": pick(["ACTIVE_ONLY", "DELETED_ONLY", "ALL"]),
                    "filter": pick(["", "name LIKE 'name-%'", "name = 'name-1-1'", "nope = 1"]),
                },
            ),
            *(
                ("POST", f"mlflow/experiments/{verb}", {"experiment_id": empty})
                for verb in ("delete", "restore")
            ),
            ("POST", "mlflow/experiments/update", {"experiment_id": empty, "new_name": name}),
            ("POST", "mlflow/experiments/update", {"experiment_id": self.base}),
            (
                "POST",
                "mlflow/experiments/set-experiment-tag",
                {"experiment_id": self.base, "key": "k", "value": "v"},
            ),
            ("POST", "mlflow/runs/create", self._run(n)),
            ("GET", "mlflow/runs/get", {"run_id": pick([run, "0" * 32, "x"])}),
            (
                "POST",
                "mlflow/runs/update",
                {
                    "run_id": run,
                    "status": pick(["FINISHED", "KILLED", "FAILED"]),
                    "end_time": 9000 + n,
                    "run_name": pick([f"run-{n}", None]),
                },
            ),
            ("POST", f"mlflow/runs/{pick(['delete', 'restore', 'restore'])}", {"run_id": gone}),
            ("POST", "mlflow/runs/log-metric", {"run_id": run, **point}),
            ("POST", "mlflow/runs/log-metric", {"run_id": run, "key": key}),
            ("POST", "mlflow/runs/log-parameter", {"run_id": run, **lr}),
            ("POST", "mlflow/runs/set-tag", {"run_id": run, "key": "kind", "value": pick("abc")}),
            (
                "POST",
                "mlflow/runs/set-tag",
                {"run_id": run, "key": "mlflow.runName", "value": f"run-{n}"},
            ),
            ("POST", "mlflow/runs/delete-tag", {"run_id": run, "key": pick(["kind", "nope"])}),
            *(
                (
                    "POST",
                    "mlflow/runs/log-batch",
                    {
                        "run_id": run,
                        "metrics": [point, {**point, "step": 11, "value": 4}],
                        "params": [lr],
                        "tags": [{"key": "kind", "value": "b"}],
                    },
                )
                for _ in range(2)
            ),
            *(
                (
                    "POST",
                    "mlflow/runs/search",
                    {
                        "experiment_ids": pick([[self.base], [self.base, "<E0>"], []]),
                        "filter": pick(FILTERS),
                        "order_by": pick(ORDERS),
                        "max_results": pick([2, 100]),
                        "run_view_type": pick(["ACTIVE_ONLY", "DELETED_ONLY", "ALL"]),
                    },
                )
                for _ in range(4)
            ),
            ("GET", "mlflow/metrics/get-history", {"run_id": run, "metric_key": key}),
            (
                "GET",
                "mlflow/metrics/get-history-bulk-interval",
                {"run_ids": [run], "metric_key": key},
            ),
            ("PUT", file, f"content {n}".encode()),
            ("GET", file, {}),
            (
                "GET",
                "mlflow/artifacts/list",
                {"run_id": run, "path": pick([None, "d", "no", "../x"])},
            ),
            (
                "POST",
                "mlflow/runs/log-inputs",
                {
                    "run_id": run,
                    "datasets": [
                        {
                            "tags": [{"key": "context", "value": "train"}],
                            "dataset": {
                                "name": "d",
                                "digest": "1",
                                "source_type": "local",
                                "source": "s",
                            },
                        }
                    ],
                },
            ),
            (
                "POST",
                "mlflow/logged-models",
                {
                    "experiment_id": self.base,
                    "name": name,
                    "source_run_id": run,
                    "params": [{"key": "a", "value": "1"}],
                    "tags": [{"key": "b", "value": "2"}],
                },
            ),
            ("GET", f"mlflow/logged-models/{model}", {}),
            (
                "PATCH",
                f"mlflow/logged-models/{model}/tags",
                {"tags": [{"key": "c", "value": str(n)}]},
            ),
            (
                "PATCH",
                f"mlflow/logged-models/{model}",
                {"model_id": model, "status": "LOGGED_MODEL_READY"},
            ),
            *self._registry(n),
        ]
        self._deck = self._deck or self._random.sample(range(len(choices)), len(choices))
        return choices[self._deck.pop()]

    def _registry(self, n: int) -> Iterator[tuple[str, str, Any]]:
        """Return calls about registered models, whose versions have the files of the first run."""
        pick = self._random.choice
        named = {"name": f"model-{self._seed}-{pick('ab')}"}
        version = named | {"version": pick(["1", "1", "2", "9", "x"])}
        tag = {"key": pick("kl"), "value": str(n)}
        alias = {"alias": pick(["best", "new", "v1", "latest", "a b"])}
        models, versions = "mlflow/registered-models", "mlflow/model-versions"
        yield "POST", f"{models}/create", named | {"description": f"text {n}", "tags": [tag]}
        yield "GET", f"{models}/get", named
        yield "PATCH", f"{models}/update", named | {"description": f"text {n}"}
        yield "POST", f"{models}/rename", named | {"new_name": f"model-{self._seed}-{pick('abc')}"}
        yield "DELETE", f"{models}/delete", {"name": f"model-{self._seed}-c"}
        yield "POST", f"{models}/set-tag", named | tag
        yield "DELETE", f"{models}/delete-tag", named | {"key": pick("kl")}
        yield "POST", f"{models}/alias", version | alias
        yield "DELETE", f"{models}/alias", named | alias
        yield "GET", f"{models}/alias", named | alias
        yield (
            "GET",
            f"{models}/search",
            {"filter": pick(MODEL_FILTERS), "max_results": pick([1, 9])},
        )
        yield "POST", f"{models}/get-latest-versions", named | {"stages": pick(STAGES)}
        yield "GET", f"{versions}/get", version
        for _ in range(2):
            source = f"mlflow-artifacts:/{self.base}/{self.runs[0]}/artifacts/d"
            yield "POST", f"{versions}/create", named | {"source": source, "run_id": self.runs[0]}
        yield "PATCH", f"{versions}/update", version | {"description": f"text {n}"}
        stage = {"stage": pick(["Staging", "production", "Archived", "nope"])}
        archive = {"archive_existing_versions": pick([True, False])}
        yield "POST", f"{versions}/transition-stage", version | stage | archive
        yield "GET", f"{versions}/search", {"filter": pick(MODEL_FILTERS)}
        yield "POST", f"{versions}/set-tag", version | tag
        yield "DELETE", f"{versions}/delete-tag", version | {"key": pick("kl")}
        yield "DELETE", f"{versions}/delete", {**version, "version": pick("39")}

    def learn(self, answers: tuple[Any, Any], servers: tuple[Server, Server]) -> None:
        """Give a shared name to what a call has created."""
        for path, kind, known in (
            (("experiment_id",), "E", self.experiments),
            (("run", "info", "run_id"), "R", self.runs),
            (("model", "info", "model_id"), "M", self.models),
        ):
            own = [_at(answer, path) for answer in answers]
            if all(own) and own[0] not in servers[0].ids and own[1] not in servers[1].ids:
                name = f"<{kind}{self._seed}x{len(known)}>"
                for server, each in zip(servers, own, strict=True):
                    server.ids[each] = name
                known.append(name)
                if kind == "E" and name != self.base:
                    self.empty.append(name)


def _at(data: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        data = data.get(name) if isinstance(data, dict) else None
    return data


@pytest.fixture(scope="module")
def servers(live_portal, token) -> Iterator[tuple[Server, Server]]:
    folder = Folder()
    ours = httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=60)
    yield (
        Server(httpx.Client(timeout=60), start_mlflow_server(folder)),
        Server(ours, f"{live_portal.url}/mlflow/home/same"),
    )
    folder.close()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_calls_get_the_same_answers_as_from_mlflow(servers, seed):
    for server in servers:
        _, found = server.send("GET", "mlflow/experiments/get", {"experiment_id": "0"})
        server.ids[found["experiment"]["experiment_id"]] = "<E0>"
    calls, different = Calls(seed), []
    for method, path, data in calls:
        answers = [server.send(method, path, data) for server in servers]
        calls.learn((answers[0][1], answers[1][1]), servers)
        theirs, ours = (
            (status, _masked(body, server.ids))
            for (status, body), server in zip(answers, servers, strict=True)
        )
        has_failed = theirs == (500, "INTERNAL_ERROR") and ours[0] in {400, 404}
        if theirs != ours and not has_failed:
            different.append(f"{method} {path} {data}\n  theirs {theirs}\n  ours   {ours}")
    assert not different, f"{len(different)} of {CALLS}:\n" + "\n".join(different[:20])
    assert len(calls.runs) > 5
