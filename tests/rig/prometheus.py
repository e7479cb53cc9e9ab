"""A private Prometheus on loopback."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from tests.rig.processes import Folder, RigFailure, free_port, is_listening, program, wait_until


@dataclass(frozen=True)
class Prometheus:
    url: str

    def values(self, query: str) -> list[dict[str, Any]]:
        """Return the result of an instant query."""
        answer = httpx.post(f"{self.url}/api/v1/query", data={"query": query}).json()
        if answer["status"] != "success":
            raise RigFailure(answer["error"])
        return answer["data"]["result"]  # type: ignore[no-any-return]


def start_prometheus(
    folder: Folder, targets: Iterable[Mapping[str, Any]], *, past: Iterable[str] = ()
) -> Prometheus:
    """Start it with scrape configurations, read every second. `past`: lines of OpenMetrics."""
    port, data = free_port(), folder.path / "prometheus"
    if lines := list(past):
        (folder.path / "past.om").write_text("\n".join([*lines, "# EOF", ""]))
        subprocess.run(
            [
                program("promtool"),
                *("tsdb", "create-blocks-from", "openmetrics"),
                *(str(folder.path / "past.om"), str(data)),
            ],
            check=True,
            capture_output=True,
        )
    config = folder.path / "prometheus.yml"  # JSON is YAML
    settings = {"scrape_interval": "1s", "scrape_timeout": "1s"}
    config.write_text(json.dumps({"global": settings, "scrape_configs": list(targets)}))
    process = folder.start(
        "prometheus",
        [
            program("prometheus"),
            f"--config.file={config}",
            f"--storage.tsdb.path={data}",
            f"--web.listen-address=127.0.0.1:{port}",
            "--storage.tsdb.retention.time=60d",
            "--log.level=warn",
        ],
    )

    def is_ready() -> bool:
        if process.poll() is not None:
            raise RigFailure(f"Prometheus ended at its start: {folder.tail('prometheus')}")
        url = f"http://127.0.0.1:{port}/-/ready"
        return is_listening(port) and httpx.get(url).status_code == 200

    wait_until(is_ready, "Prometheus answers")
    return Prometheus(f"http://127.0.0.1:{port}")
