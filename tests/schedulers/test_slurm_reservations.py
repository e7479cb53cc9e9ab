"""Reservations over slurmrestd: by itself if it can make them, else by Slurm's commands.

The double answers as SchedMD's own test of v0.0.44 expects. Slurm 22.05 is real in
tests/jobs/test_slurm_reservations.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from schedulers.contract import Identity, Rejected, ReservationRequest, ReservationScope
from schedulers.slurm.backend import SlurmBackend
from tests.rig.http_server import LoopbackServer

FLAGS = {"IGNORE_JOBS", "NO_HOLD_JOBS_AFTER_END"}
END = datetime(2027, 1, 31, 23, 59, 59, tzinfo=UTC)


class Slurmrestd(LoopbackServer):
    """Keeps reservations by name; `minor` is its version, `refusal` an error of its controller."""

    def __init__(self) -> None:
        super().__init__(Handler)
        self.minor, self.refusal = 43, ""
        self.kept: dict[str, dict[str, Any]] = {}
        self.jobs: dict[int, str] = {}  # pending jobs and their reservations

    def answer(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        api = f"/slurm/v0.0.{self.minor}"
        match method, path.removeprefix(api).strip("/").split("/"):
            case "GET", ["openapi", "v3"]:
                return {"paths": {f"{api}/jobs/": {}}}
            case "GET", ["reservations"]:
                return {"reservations": [self._shown(one) for one in self.kept.values()]}
            case "GET", ["jobs"]:
                return {"jobs": [{"job_id": n, "resv_name": r} for n, r in self.jobs.items()]}
            case "POST", ["job", number]:
                self.jobs[int(number)] = body["reservation"]
                return {}
            case "POST", ["reservation"] if self.refusal:
                return {"errors": [{"error": self.refusal, "error_number": 2002}]}
            case "POST", ["reservation"]:
                assert set(body.get("flags", ())) <= FLAGS
                if body["name"] not in self.kept:
                    assert body["start_time"]["number"] and body["end_time"]["set"]
                self.kept[body["name"]] = self.kept.get(body["name"], {}) | body
                return {"reservations": [body]}
            case "DELETE", ["reservation", name]:
                assert name not in self.jobs.values(), "a reservation in use is not deleted"
                del self.kept[name]
                return {}
        return {"errors": [{"error": f"no {method} {path}", "error_number": 1}]}

    def _shown(self, one: dict[str, Any]) -> dict[str, Any]:
        return one | {"node_list": ",".join(one["node_list"])}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Slurmrestd

    def _handle(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        given = json.loads(self.rfile.read(length)) if length else {}
        data = json.dumps(self.server.answer(self.command, self.path, given)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_DELETE = _handle  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def restd() -> Iterator[Slurmrestd]:
    with Slurmrestd() as made:
        yield made


def backend(restd: Slurmrestd, **more: str) -> SlurmBackend:
    return SlurmBackend.configured(
        {"spool": "/spool", "user": "games", "rest_url": restd.url, "rest_token": "t", **more}
    )


def request(nodes: tuple[str, ...], ends_at: datetime = END, **identity: str) -> ReservationRequest:
    return ReservationRequest(
        "muster-a-1", "h100", 8, ends_at, nodes, "atlas", "vision", Identity(**identity), "batch"
    )


def test_reservation_is_made_changed_and_ended_by_slurmrestd(restd):
    slurm, wish = backend(restd), request(("n1", "n3"))
    assert slurm.reservation_scope == ReservationScope.NODES
    assert slurm.plan_reservation(wish).endswith("for user games. By slurmrestd (v0.0.43).")
    slurm.reserve(wish)
    [seen] = slurm.reservations("muster-a-")
    assert (seen.name, seen.nodes, seen.ends_at) == ("muster-a-1", ("n1", "n3"), END)
    assert restd.kept["muster-a-1"]["users"] == ["games"]
    assert set(restd.kept["muster-a-1"]["flags"]) == FLAGS
    later = END + timedelta(days=30)
    slurm.reserve(request(("n1", "n2"), later, account="atlas"))
    [seen] = slurm.reservations("muster-a-")
    assert (seen.nodes, seen.ends_at) == (("n1", "n2"), later)
    assert restd.kept["muster-a-1"]["accounts"] == ["atlas"]
    assert slurm.reservations("muster-b-") == []
    restd.jobs = {7: "muster-a-1", 8: "of others"}
    slurm.unreserve("muster-a-1")
    slurm.unreserve("muster-a-1")
    assert (restd.kept, restd.jobs) == ({}, {7: "", 8: "of others"})


def test_refusal_of_slurmrestd_says_which_right_is_missing(restd):
    restd.refusal = "Access/permission denied"
    with pytest.raises(Rejected, match="AdminLevel=Operator"):
        backend(restd).reserve(request(("n1",)))


def test_old_slurmrestd_without_commands_says_what_to_set(restd):
    restd.minor = 41
    with pytest.raises(Rejected, match=r"v0\.0\.41\) cannot make reservations.*login host"):
        _ = backend(restd).reservation_scope
    restd.minor = 43
    with pytest.raises(Rejected, match="does not change partitions"):
        _ = backend(restd, exclusive_pools="partition").reservation_scope


def test_old_slurmrestd_leaves_reservations_to_commands(restd, tmp_path):
    log = tmp_path / "log"
    scontrol = tmp_path / "scontrol"
    scontrol.write_text(f'#!/bin/sh\necho "$@" >> {log}\n')
    scontrol.chmod(0o755)
    restd.minor = 41
    slurm, wish = backend(restd, bin=str(tmp_path)), request(("n1",))
    assert slurm.reservation_scope == ReservationScope.NODES
    assert "By Slurm's commands, because this slurmrestd (v0.0.41)" in slurm.plan_reservation(wish)
    slurm.reserve(wish)
    assert "create reservation ReservationName=muster-a-1 Nodes=n1" in log.read_text()
    assert restd.kept == {}
    by_partition = backend(restd, bin=str(tmp_path), exclusive_pools="partition")
    by_partition.reserve(request(("n1",), account="atlas"))
    assert "update PartitionName=batch AllowAccounts=atlas" in log.read_text()
