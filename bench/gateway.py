"""Measure the gateway beside nginx as a plain proxy: CPU of a request, 64 MiB, echo, idle streams.

An app on loopback answers 1.2 kB. The client keeps 8 connections. CPU is that of the proxy's process
alone (user and system, all threads), so it depends little on the load of the machine. The provider
stands in for Muster: its answers count for 2 s, as in operation.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import shutil
import signal
import socket
import statistics
import sys
import time
from contextlib import ExitStack
from multiprocessing.process import BaseProcess
from pathlib import Path

import h11

from bench.table import Row, report
from portal.gateway.heads import (
    PublicLocation,
    parse_request,
    parse_response,
    request_to_app,
    response_to_client,
)
from portal.gateway.running import _loop_factory, run_process
from portal.gateway.server import Gateway, Options
from portal.process.sockets import listen
from tests.rig.gateway import TOKEN, Asked
from tests.rig.processes import Folder, free_port, is_listening, wait_until

REQUESTS, CLIENTS = 20_000, 8
BODY = b"x" * 1200
LARGE = 64 << 20
LARGE_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % LARGE
SWITCHED = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n"
STREAMS, IDLE_SECONDS = 200, 30
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1200\r\n\r\n" + BODY
# What Chromium sends for a file of JupyterLab.
HEAD = (
    "GET {path} HTTP/1.1\r\nHost: lab--7-atlas.apps.example.com\r\nConnection: keep-alive\r\n"
    'sec-ch-ua: "Chromium";v="130", "Not=A?Brand";v="99"\r\nsec-ch-ua-mobile: ?0\r\n'
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36\r\n"
    'sec-ch-ua-platform: "Linux"\r\nAccept: */*\r\nSec-Fetch-Site: same-origin\r\n'
    "Sec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\nReferer: https://lab--7-atlas.apps.example.com/lab\r\n"
    "Accept-Encoding: gzip, deflate, br\r\nAccept-Language: en-US,en;q=0.9\r\n"
    "Cookie: _xsrf=2|1a2b|0c3d|1700000000; muster_theme=dark\r\nAuthorization: Bearer {token}\r\n\r\n"
)
PATHS = {"app": "", "nginx": "", "gateway": "/_apps/atlas/7/lab"}
PATH = "/_apps/atlas/7/lab/static/lab/main.js?v=1"


def main() -> int:
    folder = Folder()
    ports = {name: free_port() for name in ("app", "gateway", "nginx", "both")}
    started = [
        _start(_app, ports["app"]),
        gateway := _start(_gateway, ports["gateway"], ports["app"]),
    ]
    try:
        for port in (ports["app"], ports["gateway"]):
            wait_until(lambda port=port: is_listening(port), "it listens")  # type: ignore[misc]
        nginx = _nginx(folder, ports)
        found = {
            "nginx": _measured(ports["nginx"], [nginx]),
            "gateway": _measured(ports["gateway"], [gateway.pid]),
            "both": _measured(ports["both"], [nginx, gateway.pid]),
        }
        large = _large(ports)
        echo = _echo(ports)
        idle = _idle(ports["gateway"], gateway.pid)
    finally:
        for process in started:
            process.terminate()
            process.join()
        folder.close()
    ours, theirs = _parsing()
    text = ", ".join(f"{name} {micros:.0f}" for name, (micros, _) in found.items())
    print(f"CPU microseconds a request: {text}; parsing and rewriting {ours:.0f}, h11 {theirs:.0f}")
    report(
        [
            Row(
                what="CPU of a request to a web app in a job",
                target="less than 400 µs, which aiohttp takes (DESIGN §6)",
                ours=f"{found['gateway'][0]:.0f} µs; with nginx in front {found['both'][0]:.0f} µs",
                raw=f"nginx as a proxy {found['nginx'][0]:.0f} µs",
                peer=f"h11 alone takes {theirs:.0f} µs to read both heads, ours {ours:.0f} µs",
                met=found["gateway"][0] < 400,
            ),
            Row(
                what="64 MiB from a web app in a job",
                target="≥ 0.8 × nginx",
                ours=f"{large['gateway']:.0f} MiB/s: {large['gateway'] / large['nginx']:.2f} × nginx",
                raw=f"nginx as a proxy {large['nginx']:.0f} MiB/s",
                peer="–",
                met=large["gateway"] >= 0.8 * large["nginx"],
            ),
            Row(
                what="echo of 100 bytes over a websocket",
                target="≤ 3 × direct",
                ours=f"p50 {echo['gateway']:.0f} µs: {echo['gateway'] / echo['app']:.1f} × direct",
                raw=f"direct p50 {echo['app']:.0f} µs",
                peer="–",
                met=echo["gateway"] <= 3 * echo["app"],
            ),
            Row(
                what=f"{STREAMS} idle sessions, an open websocket each",
                target="≤ 30 MiB, ≤ 1 % of a core",
                raw="–",
                peer="–",
                ours=f"{idle[0]:.1f} MiB, {idle[1]:.2f} % of a core",
                met=idle[0] <= 30 and idle[1] <= 1,
                note="of the gateway; the provider, which checks each again, stands in for Muster",
            ),
        ]
    )
    return 0


def _start(target: object, *args: object) -> BaseProcess:
    process = multiprocessing.get_context("fork").Process(target=target, args=args, daemon=True)  # type: ignore[arg-type]
    process.start()
    return process


class _Answering(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self.data, self.is_echo = transport, b"", False

    def data_received(self, data: bytes) -> None:
        if self.is_echo:
            self.transport.write(data)  # type: ignore[attr-defined]
            return
        self.data += data
        if b"\r\nUpgrade: websocket" in self.data:
            self.is_echo = True
            self.transport.write(SWITCHED)  # type: ignore[attr-defined]
        elif self.data.startswith(b"GET /large") and b"\r\n\r\n" in self.data:
            self.data = b""
            self.transport.write(LARGE_ANSWER + bytes(LARGE))  # type: ignore[attr-defined]
        while b"\r\n\r\n" in self.data:
            self.data = self.data.partition(b"\r\n\r\n")[2]
            self.transport.write(ANSWER)  # type: ignore[attr-defined]


def _app(port: int) -> None:
    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(_Answering, "127.0.0.1", port)
        await server.serve_forever()

    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(serve())


def _gateway(port: int, app: int) -> None:
    sock = listen("127.0.0.1", port)
    people = {TOKEN: "ada"} | {f"mst_{number}": str(number) for number in range(1, STREAMS + 1)}
    run_process(sock, lambda: Gateway(Asked(port=app, people=people), Options()))


def _nginx(folder: Folder, ports: dict[str, int]) -> int:
    """Start nginx and return the pid of its only worker."""
    path = folder.path / "nginx.conf"
    common = (
        "proxy_http_version 1.1; proxy_set_header Connection ''; proxy_buffering off;"
        " proxy_set_header Host $http_host;"
    )
    path.write_text(
        f"daemon off; master_process off; pid {folder.path}/pid; error_log stderr error;"
        f" events {{ worker_connections 4096; }} http {{ access_log off;"
        f" keepalive_requests 10000000;"
        f" upstream app {{ server 127.0.0.1:{ports['app']}; keepalive 32; }}"
        f" upstream gateway {{ server 127.0.0.1:{ports['gateway']}; keepalive 32; }}"
        f" server {{ listen 127.0.0.1:{ports['nginx']}; location / {{"
        f" proxy_pass http://app; {common} }} }}"
        f" server {{ listen 127.0.0.1:{ports['both']}; location / {{"
        f" proxy_pass http://gateway; {common} }} }} }}"
    )
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    process = folder.start("nginx", [program, "-e", "stderr", "-c", str(path)])
    wait_until(lambda: is_listening(ports["both"]), "nginx listens")
    return process.pid


def _measured(port: int, pids: list[int | None]) -> tuple[float, float]:
    """Return CPU microseconds of these processes, and elapsed ones, of a request."""
    _load(port, REQUESTS // 10)
    before, began = sum(map(_cpu, pids)), time.monotonic()
    _load(port, REQUESTS)
    elapsed = time.monotonic() - began
    return (sum(map(_cpu, pids)) - before) / REQUESTS * 1e6, elapsed / REQUESTS * 1e6


def _large(ports: dict[str, int]) -> dict[str, float]:
    """Return MiB per second of the fastest of seven answers by each way, taken in turns."""
    seconds: dict[str, list[float]] = {"nginx": [], "gateway": []}
    for _ in range(7):
        for name, taken in seconds.items():
            path = f"{PATHS[name]}/large"
            with socket.create_connection(("127.0.0.1", ports[name])) as sock:
                began = time.monotonic()
                sock.sendall(HEAD.format(path=path, token=TOKEN).encode())
                left, part = LARGE, memoryview(bytearray(1 << 20))
                while left > 0:
                    if not (size := sock.recv_into(part)):
                        raise SystemExit("the answer was cut")
                    left -= size
                taken.append(time.monotonic() - began)
    return {name: LARGE / 2**20 / min(taken) for name, taken in seconds.items()}


def _stream(port: int, path: str, token: str = TOKEN) -> socket.socket:
    """Return an open websocket; its bytes are echoed."""
    sock = socket.create_connection(("127.0.0.1", port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    head = HEAD.format(path=path, token=token).replace("Connection: keep-alive\r\n", UPGRADE)
    sock.sendall(head.encode())
    if not sock.recv(4096).startswith(b"HTTP/1.1 101"):
        raise SystemExit("the websocket was not opened")
    return sock


def _echo(ports: dict[str, int]) -> dict[str, float]:
    """Return the median of microseconds for a round trip, directly and through the gateway."""
    found = {}
    for name in ("app", "gateway"):
        with _stream(ports[name], PATHS[name] + "/ws") as sock:
            taken = []
            for _ in range(5000):
                began = time.perf_counter()
                sock.sendall(b"x" * 100)
                sock.recv(100, socket.MSG_WAITALL)
                taken.append(time.perf_counter() - began)
        found[name] = statistics.median(taken) * 1e6
    return found


def _idle(port: int, pid: int | None) -> tuple[float, float]:
    """Return MiB that idle streams of as many people and jobs add, and the share of a core."""
    before = _memory(pid)
    with ExitStack() as stack:
        for number in range(1, STREAMS + 1):
            stack.enter_context(_stream(port, f"/_apps/atlas/{number}/lab/ws", f"mst_{number}"))
        time.sleep(5)
        memory, cpu, began = _memory(pid) - before, _cpu(pid), time.monotonic()
        time.sleep(IDLE_SECONDS)
        return memory, (_cpu(pid) - cpu) / (time.monotonic() - began) * 100


def _memory(pid: int | None) -> float:
    """Return the PSS of a process in MiB."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(text.partition("\nPss:")[2].split()[0]) / 1024


def _load(port: int, requests: int) -> None:
    process = multiprocessing.get_context("fork").Process(target=_ask, args=(port, requests))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit("a request failed")


def _ask(port: int, requests: int) -> None:
    head = HEAD.format(path=PATH, token=TOKEN).encode()

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(requests // CLIENTS):
            writer.write(head)
            answer = await reader.readuntil(b"\r\n\r\n")
            if not answer.startswith(b"HTTP/1.1 200"):
                os._exit(1)
            await reader.readexactly(len(BODY))
        writer.close()

    async def all_of_them() -> None:
        await asyncio.gather(*(one() for _ in range(CLIENTS)))

    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(all_of_them())


def _cpu(pid: int | None) -> float:
    """Return seconds of CPU of a process, precise to nanoseconds."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def _parsing() -> tuple[float, float]:
    """Return microseconds to read both heads of an exchange: ours with rewriting, and h11."""
    head = HEAD.format(path=PATH, token=TOKEN).encode()
    place, times = PublicLocation(b"10.0.0.1", b"https"), 5000
    answer = ANSWER.removesuffix(BODY)

    def ours() -> None:
        request_to_app(parse_request(head), b"/", place)
        response_to_client(parse_response(answer), place, (), is_kept=True)

    def theirs() -> None:
        connection = h11.Connection(h11.SERVER)
        connection.receive_data(head)
        connection.next_event()
        connection = h11.Connection(h11.CLIENT)
        connection.send(h11.Request(method="GET", target="/", headers=[("Host", "a")]))
        connection.receive_data(ANSWER)
        connection.next_event()

    results = []
    for read in (ours, theirs):
        began = time.process_time()
        for _ in range(times):
            read()
        results.append((time.process_time() - began) / times * 1e6)
    return results[0], results[1]


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    socket.setdefaulttimeout(30)
    sys.exit(main())
