"""Import from an MLflow tracking server, through its REST API.

Everything is compared first, so that a second import transfers only what is new. What fails for
one run or model is reported at the end, and the others go on.
"""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from muster.errors import InvalidInput, Json, MusterError, NotFound, Unavailable, error_of
from muster.wording import number_text

if TYPE_CHECKING:
    import httpx

    from muster.client import Client

PAGE = 1000  # experiments, runs and points per request: the maximum of the protocol
POINTS = 25_000  # of a history per request
TRIES = 5
SOURCE_TAG = "muster.imported_from"
_PROXIED = "mlflow-artifacts:"


@dataclass
class Done:
    """Numbers of an import; `failures` are sentences."""

    experiments: int = 0
    runs: int = 0
    new_runs: int = 0
    points: int = 0
    files: int = 0
    versions: int = 0
    failures: list[str] = field(default_factory=list)
    run_ids: list[str] = field(default_factory=list)

    def as_dict(self) -> Json:
        return asdict(self)


class MlflowSource:
    """The server to import from, with the credentials of MLflow's clients."""

    def __init__(self, url: str):
        import httpx

        if not url.startswith(("http://", "https://")):
            raise InvalidInput(f"Invalid URL {url!r}. It must start with http:// or https://.")
        self.url = url.rstrip("/")
        env = os.environ
        token, user = env.get("MLFLOW_TRACKING_TOKEN"), env.get("MLFLOW_TRACKING_USERNAME")
        self._http = httpx.Client(
            timeout=60,
            headers={"Authorization": f"Bearer {token}"} if token and not user else {},
            auth=(user, env.get("MLFLOW_TRACKING_PASSWORD", "")) if user else None,
            follow_redirects=False,
        )

    def call(self, method: str, path: str, query: Any = None, body: Any = None) -> Json:
        """Call a route of the API and return the answer. Raises MusterError."""
        answer = self._sent(method, f"/api/2.0/mlflow/{path}", params=query, json=body)
        found: Json = answer.json()
        return found

    def pages(self, method: str, path: str, key: str, **given: Any) -> Iterator[Json]:
        """Iterate over the items of all pages."""
        token = ""
        while True:
            sent = {**given, **({"page_token": token} if token else {})}
            found = self.call(
                method, path, **({"query": sent} if method == "GET" else {"body": sent})
            )
            yield from found.get(key) or []
            token = found.get("next_page_token") or ""
            if not token:
                return

    def files_of_run(self, run_id: str, folder: str = "") -> Iterator[tuple[str, int]]:
        """Yield path and size of all files of a run."""
        query = {"run_id": run_id, **({"path": folder} if folder else {})}
        for file in self.call("GET", "artifacts/list", query).get("files") or []:
            if file.get("is_dir"):
                yield from self.files_of_run(run_id, file["path"])
            else:
                yield file["path"], int(file.get("file_size") or 0)

    def save_file_of_run(self, run_id: str, path: str, to: Path) -> None:
        self._save("/get-artifact", {"run_id": run_id, "run_uuid": run_id, "path": path}, to)

    def logged_models(self, experiment_id: str) -> Iterator[Json]:
        """Yield the models that runs of an experiment have logged; servers before MLflow 3 have none."""
        try:
            yield from self.pages(
                "POST", "logged-models/search", "models", experiment_ids=[experiment_id]
            )
        except MusterError as error:
            if error.status != 404:
                raise

    def files_of_model(self, model_id: str, folder: str = "") -> Iterator[tuple[str, int]]:
        """Yield path and size of all files of a logged model."""
        query = {"artifact_directory_path": folder} if folder else {}
        found = self.call("GET", f"logged-models/{model_id}/artifacts/directories", query)
        for file in found.get("files") or []:
            if file.get("is_dir"):
                yield from self.files_of_model(model_id, file["path"])
            else:
                yield file["path"], int(file.get("file_size") or 0)

    def save_file_of_model(self, model_id: str, path: str, to: Path) -> None:
        at = f"/ajax-api/2.0/mlflow/logged-models/{model_id}/artifacts/files"
        self._save(at, {"artifact_file_path": path}, to)

    def files_below(self, root: str, folder: str = "") -> Iterator[tuple[str, int]]:
        """Yield path and size of all files below a folder that the server proxies."""
        place = "/".join(filter(None, [root, folder]))
        answer = self._sent("GET", "/api/2.0/mlflow-artifacts/artifacts", params={"path": place})
        for file in answer.json().get("files") or []:
            path = "/".join(filter(None, [folder, file["path"]]))
            if file.get("is_dir"):
                yield from self.files_below(root, path)
            else:
                yield path, int(file.get("file_size") or 0)

    def save_file_below(self, root: str, path: str, to: Path) -> None:
        self._save(f"/api/2.0/mlflow-artifacts/artifacts/{quote(root)}/{quote(path)}", None, to)

    def _sent(self, method: str, path: str, **more: Any) -> httpx.Response:
        import httpx

        for tried in range(TRIES):
            is_last = tried == TRIES - 1
            try:
                answer = self._http.request(method, self.url + path, **more)
            except httpx.HTTPError as error:
                if is_last:
                    raise Unavailable(f"Cannot connect to {self.url}: {error}") from error
                time.sleep(0.2 * 3**tried)
                continue
            if answer.is_success:
                return answer
            if (answer.status_code < 500 and answer.status_code != 429) or is_last:
                raise self._refused(answer)
            time.sleep(0.2 * 3**tried)
        raise AssertionError("the last attempt returns or raises")

    def _save(self, path: str, query: Any, to: Path) -> None:
        import httpx

        try:
            with self._http.stream("GET", self.url + path, params=query) as answer:
                if not answer.is_success:
                    answer.read()
                    raise self._refused(answer)
                with open(to, "wb") as out:
                    out.writelines(answer.iter_bytes())
        except httpx.HTTPError as error:
            raise Unavailable(f"Cannot read {path} of {self.url}: {error}") from error

    def _refused(self, answer: httpx.Response) -> MusterError:
        try:
            body = answer.json()
        except ValueError:
            body = None
        if isinstance(body, dict) and "error_code" in body:
            return error_of(answer.status_code, body, "", self.url)
        return MusterError(
            f"{self.url} answered {answer.status_code}, but not as an MLflow server. Check the URL, "
            "MLFLOW_TRACKING_TOKEN, and MLFLOW_TRACKING_USERNAME with MLFLOW_TRACKING_PASSWORD.",
            status=answer.status_code,
        )


class Import:
    """One import into the team of a client. `say` reports progress."""

    def __init__(self, client: Client, url: str, *, team: str | None, say: Callable[[str], None]):
        self.client, self.source, self.say = client, MlflowSource(url), say
        self.team = team or client.team
        self.done = Done()
        self._run_ids: dict[str, str] = {}  # there -> here
        self._logged: dict[str, list[tuple[str, str]]] = {}  # run there -> name, id of its models

    def run(
        self, names: Sequence[str], *, with_artifacts: bool = True, with_models: bool = True
    ) -> Done:
        """Import the experiments of these names, or all."""
        found = list(
            self.source.pages("POST", "experiments/search", "experiments", max_results=PAGE)
        )
        known = {row["name"] for row in found}
        if missing := [name for name in names if name not in known]:
            raise NotFound(f"{self.source.url} has no experiment {missing[0]!r}.")
        for row in sorted(found, key=lambda row: int(row["experiment_id"])):
            if not names or row["name"] in names:
                self._experiment(row, with_artifacts)
        if with_models and not names:
            self._models()
        return self.done

    def _experiment(self, row: Json, with_artifacts: bool) -> None:
        here = self.client.experiments.ensure(row["name"], self.team)
        tags = _texts(row.get("tags"))
        if changed := {n: v for n, v in tags.items() if n not in (here.get("tags") or {})}:
            changed.pop("mlflow.experiment.sourceName", None)
            self._tried(f"the tags of {row['name']}", partial(self._tag, here, changed))
        self.done.experiments += 1
        if with_artifacts:
            for model in self.source.logged_models(row["experiment_id"]):
                info = model["info"]
                logged = self._logged.setdefault(info.get("source_run_id", ""), [])
                logged.append((info["name"], info["model_id"]))
        runs = self.source.pages(
            "POST",
            "runs/search",
            "runs",
            experiment_ids=[row["experiment_id"]],
            max_results=PAGE,
            order_by=["attributes.start_time ASC"],  # parents before their children
        )
        for run in runs:
            name = f"run {run['info']['run_id']} of {row['name']}"
            self._tried(name, partial(self._one_run, here, run, with_artifacts))
        self.say(f"{row['name']}: {self.done.runs} runs, {self.done.points} new points")

    def _tag(self, here: Json, tags: Mapping[str, str]) -> None:
        if tags:
            self.client.experiments.change(here["number"], tags=dict(tags))

    def _one_run(self, experiment: Json, run: Json, with_artifacts: bool) -> None:
        info, data = run["info"], run.get("data") or {}
        run_id = info["run_id"]
        answer = self.client.send(
            "POST",
            "runs/import",
            {
                "experiment": experiment["number"],
                "server": self.source.url,
                "run_id": run_id,
                "name": info.get("run_name") or _texts(data.get("tags")).get("mlflow.runName", ""),
                "status": info.get("status") or "FINISHED",
                "started_ms": int(info.get("start_time") or 0),
                "ended_ms": int(info["end_time"]) if int(info.get("end_time") or 0) > 0 else None,
                "params": _texts(data.get("params")),
                "tags": _texts(data.get("tags")),
            },
        )
        here = self._run_ids[run_id] = answer["id"]
        self.done.runs += 1
        self.done.new_runs += answer["is_new"]
        self.done.run_ids.append(here)
        for metric in data.get("metrics") or []:
            last = answer["metrics"].get(metric["key"])
            if last is None or not _is_same(last, metric):
                self._history(run_id, here, metric["key"])
        if with_artifacts:
            self._files(here, self._files_there(run_id))

    def _files_there(self, run_id: str) -> dict[str, tuple[int, Callable[[Path], None]]]:
        """Return size and download of each file of a run, with those of the models it has logged."""
        found: dict[str, tuple[int, Callable[[Path], None]]] = {}
        for name, model_id in self._logged.get(run_id, ()):
            for path, size in self.source.files_of_model(model_id):
                save = partial(self.source.save_file_of_model, model_id, path)
                found[f"{name}/{path}"] = size, save
        for path, size in self.source.files_of_run(run_id):
            found[path] = size, partial(self.source.save_file_of_run, run_id, path)
        return found

    def _history(self, there: str, here: str, key: str) -> None:
        """Log the whole history of a metric: points that are here already are ignored."""
        batch: list[Json] = []
        points = self.source.pages(
            "GET",
            "metrics/get-history",
            "metrics",
            run_id=there,
            metric_key=key,
            max_results=POINTS,
        )
        for point in points:
            value = float(point["value"])
            batch.append(
                {
                    "name": key,
                    "value": value if math.isfinite(value) else number_text(value),
                    "step": int(point.get("step") or 0),
                    "at": int(point["timestamp"]),
                }
            )
            if len(batch) == PAGE:
                self._log(here, batch)
                batch = []
        if batch:
            self._log(here, batch)

    def _log(self, here: str, batch: list[Json]) -> None:
        self.client.runs.log(here, batch)
        self.done.points += len(batch)

    def _files(self, here: str, files: Mapping[str, tuple[int, Callable[[Path], None]]]) -> None:
        """Copy the files that are missing here, or have another size."""
        if not files:
            return
        have = {entry["path"]: entry["bytes"] for entry in self.client.runs.files(here)}
        with tempfile.TemporaryDirectory() as folder:
            for path, (size, save) in files.items():
                if have.get(path) != size:
                    file = Path(folder) / "file"
                    save(file)
                    self.client.runs.upload(here, path, file)
                    self.done.files += 1

    def _models(self) -> None:
        try:
            found = list(
                self.source.pages(
                    "GET", "registered-models/search", "registered_models", max_results=100
                )
            )
        except NotFound:
            return  # a server without a registry
        for model in found:
            self._tried(f"model {model['name']}", partial(self._model, model))

    def _model(self, model: Json) -> None:
        name = model["name"]
        team = self._team_of_models()
        at = f"models/{quote(team, safe='')}/{quote(name, safe='')}"
        try:
            self.client.get(at)
        except NotFound:
            body = {"name": name, "description": model.get("description") or ""}
            tags = _texts(model.get("tags"))
            self.client.send("POST", "models", {**body, "team": team, "tags": tags})
        known = {
            row["tags"].get(SOURCE_TAG): row["version"]
            for row in self.client.items(f"{at}/versions")
        }
        numbers: dict[str, int] = {}
        versions = self.source.pages(
            "GET",
            "model-versions/search",
            "model_versions",
            filter=f"name = '{name}'",
            max_results=PAGE,
        )
        for version in sorted(versions, key=lambda row: int(row["version"])):
            origin = f"{self.source.url} {name} {version['version']}"
            if origin not in known:
                known[origin] = self._version(at, version, origin)
                self.done.versions += 1
            numbers[str(version["version"])] = known[origin]
        for alias in model.get("aliases") or []:
            if number := numbers.get(str(alias["version"])):
                path = f"{at}/aliases/{quote(alias['alias'], safe='')}"
                self.client.send("PUT", path, {"version": str(number)})

    def _version(self, at: str, version: Json, origin: str) -> int:
        """Upload the files of a version and return its number here."""
        query = {"name": version["name"], "version": version["version"]}
        uri = self.source.call("GET", "model-versions/get-download-uri", query)["artifact_uri"]
        if not uri.startswith(_PROXIED):
            raise MusterError(
                f"the files of version {version['version']} are at {uri}, which the server does not "
                "serve; start it with --serve-artifacts"
            )
        root = uri.removeprefix(_PROXIED).lstrip("/")
        run = self._run_ids.get(version.get("run_id") or "", "")
        tags = {**_texts(version.get("tags")), SOURCE_TAG: origin}
        if run:
            tags["muster.run"] = run
        made = self.client.send(
            "POST",
            f"{at}/versions",
            {"description": version.get("description") or "", "tags": tags},
        )
        place = f"{at}/versions/{made['version']}"
        try:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "file"
                for path, _size in self.source.files_below(root):
                    self.source.save_file_below(root, path, file)
                    within = self.client.within(f"{place}/files/{quote(path)}")
                    self.client.upload(within, file)
                    self.done.files += 1
            self.client.send("POST", f"{place}/finish")
        except MusterError:
            self.client.send("DELETE", place)  # discard the upload
            raise
        return int(made["version"])

    def _team_of_models(self) -> str:
        """Return the slug of the team; without one, that of the experiments."""
        if not self.team:
            self.team = str(self.client.experiments.ensure("Default")["team"])
        return self.team

    def _tried(self, name: str, act: Callable[[], None]) -> None:
        try:
            act()
        except Unavailable:
            raise  # one of the two servers is away: repeat the import later
        except MusterError as error:
            faults = [f"{one.get('field')}: {one.get('message')}" for one in error.errors]
            self.done.failures.append("; ".join([f"{name}: {error.message}", *faults]))


def _texts(rows: Sequence[Json] | None) -> dict[str, str]:
    return {row["key"]: str(row.get("value", "")) for row in rows or []}


def _is_same(last: Sequence[Any], metric: Json) -> bool:
    """Return whether the last point of a metric here is the one there."""
    value, step, at = last
    return (
        repr(float(metric["value"])) == value
        and int(metric.get("step") or 0) == (step or 0)
        and int(metric["timestamp"]) == at
    )
