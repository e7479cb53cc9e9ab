"""The `muster-agent` command: run (default), once, check."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from muster_agent.collector import Collector
from muster_agent.config import Config
from muster_agent.loop import Agent
from muster_agent.sample import Json
from muster_agent.spool import SpoolBusy
from muster_agent.version import VERSION

GIB = 1 << 30


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. Exit codes: 0 success, 1 could not start, 2 invalid usage."""
    options = parser().parse_args(argv)
    logging.basicConfig(
        level=logging.DEBUG if options.verbose else logging.INFO, format="%(levelname)s %(message)s"
    )
    config = configure(options)
    if options.command == "once":
        return once(config, as_json=options.json)
    if options.command == "check":
        return check(config)
    return run(config)


def parser() -> argparse.ArgumentParser:
    about = "What this machine, its GPUs and its jobs are doing."
    top = argparse.ArgumentParser(
        prog="muster-agent", description=about, parents=[shared_options(None)]
    )
    top.add_argument("--version", action="version", version=VERSION)
    again = shared_options(argparse.SUPPRESS)  # after the command, or inherited from before it
    commands = top.add_subparsers(dest="command", metavar="run|once|check")
    commands.add_parser(
        "run", parents=[again], help="collect and send metrics until stopped (default)"
    )
    commands.add_parser("once", parents=[again], help="print one batch").add_argument(
        "--json", action="store_true"
    )
    commands.add_parser(
        "check", parents=[again], help="report what the agent finds on this machine"
    )
    return top


def shared_options(default: str | None) -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False, argument_default=default)
    shared.add_argument("--url", help="URL of the portal [env: MUSTER_URL]")
    shared.add_argument(
        "--token-file",
        type=Path,
        help="file with a token of scope agent:write "
        "[env: MUSTER_AGENT_TOKEN_FILE, MUSTER_AGENT_TOKEN]",
    )
    shared.add_argument("--node", help="node name; default: host name")
    shared.add_argument(
        "--jobs-dir", type=Path, help="job directory of the local backend [env: MUSTER_JOBS_DIR]"
    )
    shared.add_argument(
        "--disk",
        type=Path,
        action="append",
        help="path of a file system to monitor; default: /; repeatable",
    )
    shared.add_argument(
        "--spool", type=Path, help="directory for unsent batches; default: memory only"
    )
    shared.add_argument(
        "--allow-mig",
        action="store_const",
        const=True,
        help="let the portal change the MIG instances of drained nodes; needs root",
    )
    shared.add_argument(
        "--interval", type=float, help="seconds between measurements; default: 10, with jobs 2"
    )
    shared.add_argument(
        "--batch",
        type=float,
        help="seconds of measurements that are sent together; 10 goes with --interval 1, 60 with "
        "hundreds of nodes",
    )
    shared.add_argument("--listen", help="serve Prometheus metrics on HOST:PORT")
    shared.add_argument("-v", "--verbose", action="store_const", const=True, help="verbose logging")
    return shared


def configure(options: argparse.Namespace) -> Config:
    return Config.from_environ(
        url=options.url,
        token_file=options.token_file,
        node=options.node,
        jobs_dir=options.jobs_dir,
        disks=tuple(options.disk) if options.disk else None,
        spool_dir=options.spool,
        listen=options.listen or None,
        allow_mig=options.allow_mig,
        batch=options.batch,
        **(
            {"idle_interval": options.interval, "busy_interval": min(options.interval, 2.0)}
            if options.interval
            else {}
        ),
    )


def run(config: Config) -> int:
    if not config.url and not config.listen:
        return fail(
            "no portal to send to: give --url (or MUSTER_URL), or --listen for Prometheus alone"
        )
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        agent = Agent(config, None if config.url else discard, stop=stop)
        if config.listen:
            from muster_agent.exposition import (
                serve,
            )  # http.server costs memory, so import it on demand

            serve(agent, config.listen)
    except (SpoolBusy, OSError, ValueError) as error:
        return fail(str(error))
    agent.run()
    return 0


def discard(body: Json) -> None:
    """Discard a batch, for an agent that only serves Prometheus."""


def once(config: Config, *, as_json: bool) -> int:
    body = two_samples(config)
    if as_json:
        print(json.dumps(body, indent=2))
        return 0
    for sample in body["samples"]:
        print(line_of(sample))
    for job in body["jobs"]:
        for sample in job["samples"]:
            print(f"{job['key']}  {line_of(sample)}")
    return 0


def line_of(sample: Json) -> str:
    labels = ",".join(f"{name}={value}" for name, value in sample["labels"].items())
    return f"{sample['name']}{{{labels}}} {sample['value']:.6g} {sample['unit']}"


def check(config: Config) -> int:
    body = two_samples(config)
    print("\n".join(findings(config, body)))
    return 0


def findings(config: Config, body: Json) -> Iterator[str]:
    """Describe a batch for people."""
    facts = body["facts"]
    memory = f"{facts['memory'] / GIB:.1f} GiB memory"
    yield f"node {body['node']}: {facts['cpus']} processors, {memory}, agent {facts['agent']}"
    yield from (f"{describe(gpu)}, driver {facts['driver']}" for gpu in facts["gpus"])
    if facts["note"]:
        yield facts["note"]
    yield (
        f"{len(body['samples'])} numbers measured: "
        f"{', '.join(sorted({s['name'] for s in body['samples']}))}"
    )
    if config.jobs_dir is None:
        yield "jobs: not looked for; name the local backend's folder with --jobs-dir"
    else:
        yield f"jobs: {len(body['jobs'])} running under {config.jobs_dir}"
    if facts["gpus"]:
        yield (
            "MIG: the portal may change instances (--allow-mig)"
            + ("" if os.geteuid() == 0 else "; this user is not root, so the driver will refuse")
            if config.allow_mig
            else "MIG: the portal may not change instances; --allow-mig permits it"
        )
    yield f"portal: {config.url}" if config.url else "portal: none given (--url)"
    if config.url and not (config.token or config.token_file):
        yield "token: none given; the portal will refuse (--token-file, or MUSTER_AGENT_TOKEN)"


def describe(gpu: Json) -> str:
    profiles = ", ".join(part["profile"] for part in gpu["mig"])
    slices = f", {len(gpu['mig'])} MIG instances ({profiles})" if gpu["mig"] else ""
    return (
        f"GPU {gpu['index']}: {gpu['model'] or 'does not answer'}, {gpu['memory'] / GIB:.0f} "
        f"GiB{slices}"
    )


def two_samples(config: Config, over: float = 1.0) -> Json:
    """Return a batch with rates, from two measurements `over` seconds apart."""
    collector = Collector(config)
    collector.collect()
    threading.Event().wait(over)
    return collector.collect()


def fail(message: str) -> int:
    print(f"muster-agent: {message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
