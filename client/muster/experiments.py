"""SDK for experiments and runs. Rows are the API's JSON."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from muster.errors import InvalidInput, Json, NotFound

if TYPE_CHECKING:
    from muster.client import Client
    from muster.shapes.experiments import RunComparisonShape
    from muster.shapes.jobs import JobDetailShape

RESOURCES = {
    "experiments": "Experiments",
    "runs": "Runs",
}
PAGE = 200


class Experiments:
    """Experiments of the organization. `name` is a number (12, "12") or a name."""

    def __init__(self, client: Client):
        self._client = client

    def list(self, *, most: int | None = None, **filters: str | None) -> Iterator[Json]:
        """Iterate over experiments, newest first. Filters: team, owner, q."""
        given: dict[str, Any] = {name: value for name, value in filters.items() if value}
        return self._client.items("experiments", most, limit=PAGE, **given)

    def get(self, name: str | int) -> Json:
        return self._client.get(f"experiments/{self.number(name)}")

    def create(self, name: str, *, description: str = "", team: str | None = None) -> Json:
        body: Json = {"name": name, "description": description}
        if team := team or self._client.team:
            body["team"] = team
        return self._client.send("POST", "experiments", body)

    def change(self, name: str | int, **fields: Any) -> Json:
        """Change `name`, `description` or `tags`."""
        return self._client.send("PATCH", f"experiments/{self.number(name)}", fields)

    def delete(self, name: str | int) -> Json:
        """Move an experiment and its runs to the trash. Idempotent."""
        return self._client.send("DELETE", f"experiments/{self.number(name)}")

    def restore(self, number: str | int) -> Json:
        """Take an experiment out of the trash, by its number."""
        return self._client.send("POST", f"experiments/{_number(number)}/restore")

    def ensure(self, name: str, team: str | None = None) -> Json:
        """Return the experiment of that name of the team, and create it if it is missing."""
        found = self._named(name, team or self._client.team)
        return found[0] if found else self.create(name, team=team)

    def number(self, name: str | int) -> str:
        """Return the number of an experiment. Raises NotFound, and InvalidInput for several."""
        text = str(name)
        if text.isdecimal():
            return text
        found = self._named(text, self._client.team)
        if not found:
            raise NotFound(f"There is no experiment {text!r} that you can see.")
        if len(found) > 1:
            teams = ", ".join(f"{row['number']} of {row['team']}" for row in found)
            raise InvalidInput(f"Several teams have {text!r}: use its number ({teams}), or --team.")
        return str(found[0]["number"])

    def _named(self, name: str, team: str | None) -> builtins.list[Json]:
        rows = self.list(team=team or None)
        return [row for row in rows if row["name"] == name]


class Runs:
    """Runs of the organization. `run` is an id, or "#12" for the run of a job."""

    def __init__(self, client: Client):
        self._client = client

    def search(
        self,
        filter: str = "",  # noqa: A002  as MLflow names it
        *,
        experiments: Sequence[str | int] = (),
        order_by: Sequence[str] = (),
        most: int | None = None,
        **query: str | None,
    ) -> Iterator[Json]:
        """Iterate over runs, newest first. `filter` is in MLflow's language."""
        numbers = [self._client.experiments.number(name) for name in experiments]
        given: dict[str, Any] = {
            "limit": PAGE if most is None else min(most, PAGE),
            "filter": filter,
            "experiment": ",".join(numbers),
            "order_by": list(order_by) or None,
            **query,
        }
        return self._client.items("runs", most, cursor_name="page_token", **given)

    def get(self, run: str) -> Json:
        """Return a run, with its params, tags and the last point of each metric."""
        return self._client.get(self._path(run))

    def create(self, **fields: Any) -> Json:
        """Start a run. Fields: experiment (number), team, name, parent, started_ms, tags."""
        return self._client.send("POST", "runs", fields)

    def change(self, run: str, **fields: Any) -> Json:
        """Change `name`, `status` or `ended_ms`."""
        return self._client.send("PATCH", self._path(run), fields)

    def delete(self, run: str) -> Json:
        """Move a run to the trash. Idempotent."""
        return self._client.send("DELETE", self._path(run))

    def log(
        self,
        run: str,
        metrics: Sequence[Json] = (),
        params: Mapping[str, str] | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> Json:
        """Log a batch. `metrics` are {"name", "value", "step", "at"}; `at` in Unix ms."""
        body = {"metrics": list(metrics), "params": dict(params or {}), "tags": dict(tags or {})}
        return self._client.send("POST", self._path(run, "log"), body)

    def metrics(self, run: str, names: Sequence[str] = (), **query: Any) -> builtins.list[Json]:
        """Return curves: {"name", "times" (Unix ms), "steps", "values"}."""
        found = self._client.get(self._path(run, "metrics"), names=",".join(names), **query)
        rows: builtins.list[Json] = found["series"]
        return rows

    def compare(self, runs: Sequence[str]) -> RunComparisonShape:
        """Compare 2 to 10 runs: configuration that differs, metrics and the best runs."""
        query = ",".join(map(self.id, runs))
        found: RunComparisonShape = self._client.get("runs/compare", runs=query)
        return found

    def artifacts(self, run: str, folder: str = "") -> Json:
        """List the files and folders directly in a folder of the run."""
        within = self._client.within(self._path(run, "artifacts"))
        found: Json = self._client.request("GET", within, query={"path": folder}).json()
        return found

    def files(self, run: str, folder: str = "") -> Iterator[Json]:
        """Iterate over all files below a folder."""
        for entry in self.artifacts(run, folder)["entries"]:
            if entry["is_folder"]:
                yield from self.files(run, entry["path"])
            else:
                yield entry

    def upload(self, run: str, path: str, file: Path) -> Json:
        """Store a file at a path of the run."""
        within = self._client.within(self._path(run, "artifacts", quote(path)))
        stored: Json = self._client.upload(within, file).json()
        return stored

    def read(self, run: str, path: str) -> Iterator[bytes]:
        """Iterate over the bytes of a file."""
        within = self._client.within(self._path(run, "artifacts", quote(path)))
        return self._client.stream(within, {})

    def delete_artifact(self, run: str, path: str) -> Json:
        """Delete a file or a folder of the run."""
        return self._client.send("DELETE", self._path(run, "artifacts", quote(path)))

    def reproduce(self, run: str) -> tuple[Json, Json]:
        """Submit the job of a run again, with image and data pinned; return job and changes.

        The image is named by its digest, and each input by the version that the job read.
        """
        row = self.get(run)
        if row["job"] is None:
            raise InvalidInput(
                f"{row['name']} was not logged by a job of this portal, so there is nothing to "
                "submit. Its parameters and commit are in `muster runs show`.",
                code="no_job",
            )
        image, digest = (row["tags"].get(f"muster.{n}", "") for n in ("image", "image_digest"))
        name = image.rpartition(":")[0] if ":" in image.rpartition("/")[2] else image
        changes = {"image": f"{name}@{digest}"} if digest and "@" not in image else {}
        changes |= _pinned_inputs(self._client.jobs.get(row["job"]).raw)
        job = self._client.jobs.rerun(row["job"], overrides=changes or None)
        return dict(job.raw), changes

    def id(self, run: str) -> str:
        """Return the id of a run: that of a job for "#12"."""
        if run.startswith("#"):
            return str(self._client.jobs.get(run).raw["id"]).replace("-", "")
        return run

    def _path(self, run: str, *rest: str) -> str:
        return "/".join(["runs", quote(self.id(run), safe=""), *rest])


def _number(number: str | int) -> str:
    if not str(number).isdecimal():
        raise InvalidInput(f"{number!r} is not the number of an experiment.")
    return str(number)


def _pinned_inputs(job: JobDetailShape) -> Json:
    """Return changes of the spec of a job that name the version of each input."""
    found, given = {}, job["spec"].get("inputs") or {}
    for one in job.get("inputs", ()):
        entry, path = given.get(one["name"]), f"inputs.{one['name']}"
        if isinstance(entry, dict):
            key = "dataset" if entry.get("dataset") else "checkpoint"
            entry, path = entry.get(key), f"{path}.{key}"
        if entry:
            found[path] = f"{str(entry).partition('@')[0]}@{one['version']}"
    return found
