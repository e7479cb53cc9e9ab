"""A double of dcgm-exporter: no GPU is on the machines that run tests. The text has its format."""

from __future__ import annotations

from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.rig.http_server import LoopbackServer

FIELDS = {
    "DCGM_FI_DEV_SM_CLOCK": 1980,
    "DCGM_FI_DEV_MEM_CLOCK": 2619,
    "DCGM_FI_DEV_GPU_TEMP": 54,
    "DCGM_FI_DEV_MEMORY_TEMP": 61,
    "DCGM_FI_DEV_POWER_USAGE": 512.5,
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": 0,
    "DCGM_FI_DEV_GPU_UTIL": 97,
    "DCGM_FI_DEV_XID_ERRORS": 0,
    "DCGM_FI_DEV_FB_FREE": 20480,
    "DCGM_FI_DEV_FB_USED": 60416,
    "DCGM_FI_DEV_FB_RESERVED": 1024,
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": 0,
    "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": 0x44,
    "DCGM_FI_PROF_SM_ACTIVE": 0.81,
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": 0.42,
    "DCGM_FI_PROF_DRAM_ACTIVE": 0.33,
    "DCGM_FI_PROF_PCIE_TX_BYTES": 1.5e9,
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": 9223372036854775794,  # not supported
}


def labels_of(host: str, gpu: int, **more: str) -> dict[str, str]:
    return {
        "gpu": str(gpu),
        "UUID": f"GPU-{host}-{gpu}",
        "pci_bus_id": f"00000000:{24 + gpu:02X}:00.0",
        "device": f"nvidia{gpu}",
        "modelName": "NVIDIA H100 80GB HBM3",
        "Hostname": host,
        "DCGM_FI_DRIVER_VERSION": "550.54.15",
        **more,
    }


def line(field: str, labels: Mapping[str, str], value: float, at: str = "") -> str:
    inner = ",".join(f'{name}="{text}"' for name, text in labels.items())
    return f"{field}{{{inner}}} {value}{at}"


def text_of(host: str, gpus: int = 2, labels: Mapping[str, str] | None = None, **more: Any) -> str:
    """Return the answer of the exporter of a host; `more` replaces values of fields."""
    return "".join(
        f"# HELP {field} About {field}.\n# TYPE {field} gauge\n"
        + "".join(
            line(field, labels_of(host, gpu, **(labels or {})), value) + "\n" for gpu in range(gpus)
        )
        for field, value in (FIELDS | more).items()
    )


class Exporters:
    """Serve texts by path on one port. A path without a text is 404."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.moved: dict[str, str] = {}  # path → where it redirects to
        texts, moved = self.texts, self.moved

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                text = texts.get(self.path)
                self.send_response(302 if self.path in moved else 404 if text is None else 200)
                if self.path in moved:
                    self.send_header("Location", moved[self.path])
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                self.wfile.write((text or "").encode())

            def do_POST(self) -> None:  # a query to what may be a Prometheus
                self.rfile.read(int(self.headers["Content-Length"]))
                self.do_GET()

            def log_message(self, *args: Any) -> None:
                """Print nothing."""

        self._server = LoopbackServer(Handler)
        self.url = self._server.url

    def close(self) -> None:
        self._server.close()
