"""Clusters and pools."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from muster.errors import InvalidInput, Json
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago

clusters = Commands(help="Connect schedulers, test them, switch them off. For operators.")
pools = Commands(help="Parts of clusters, and the teams that may use them.")
ClusterName = Annotated[str, Argument(metavar="CLUSTER")]
PoolName = Annotated[str, Argument(metavar="POOL")]
TeamName = Annotated[str, Argument(metavar="TEAM")]
Options = Annotated[
    list[str] | None,
    Option(
        "--set",
        metavar="NAME=VALUE",
        help="An option; NAME=@FILE reads it from a file, NAME=@- from stdin.",
    ),
]

Unset = Annotated[
    list[str] | None,
    Option(
        "--unset",
        metavar="NAME",
        help="Back to its default; the way to remove a secret. May be repeated.",
    ),
]


@clusters.command("list")
def list_clusters(session: Session) -> None:
    """All clusters, how they do, and what they have."""
    found = session.client.clusters.all()
    rows = ([c["name"], c["title"], _state(c), _nodes(c), f"{c['gpus']['used']}/{c['gpus']['total']}", ago(c["seen_at"]), c["trouble"]]
            for c in found["items"])  # fmt: skip
    table = Table(["Cluster", "Kind", "State", "Nodes", ">GPUs used", ">Seen", "~Trouble"], rows,
                  "No cluster yet. Connect one: muster cluster connect NAME KIND --set NAME=VALUE")  # fmt: skip
    session.show(found, table, [c["name"] for c in found["items"]])


@clusters.command("show")
def show_cluster(session: Session, name: ClusterName) -> None:
    """One cluster with its options; secrets are never told."""
    row = session.client.clusters.get(name)
    facts = [("Kind", row["title"]), ("State", _state(row)), ("Nodes", _nodes(row)), ("GPUs used", f"{row['gpus']['used']}/{row['gpus']['total']}"),
             ("Seen", ago(row["seen_at"])), *([("Trouble", row["trouble"])] if row["trouble"] else []),
             *((option, str(value)) for option, value in row["options"].items())]  # fmt: skip
    session.show(row, Table(["Cluster", f"~{row['name']}"], facts, wraps=True), [row["name"]])


@clusters.command("connect")
def connect_cluster(
    session: Session, name: ClusterName, kind: Annotated[str, Argument(metavar="KIND", help="local, slurm, …")], options: Options = None,
) -> None:  # fmt: skip
    """Connect a cluster. Its nodes appear once it has been looked at."""
    made = session.client.clusters.connect(name, kind, pairs(options))
    session.show(made, f"{name} is connected. Try it: muster cluster test {name}", [name])


@clusters.command("change")
def change_cluster(
    session: Session, name: ClusterName, options: Options = None, unset: Unset = None
) -> None:
    """Set options; what is not named stays as it is."""
    given = {**pairs(options), **dict.fromkeys(unset or [])}
    session.show(session.client.clusters.change(name, options=given), f"{name} is changed.", [name])


@clusters.command("test")
def test_cluster(session: Session, name: ClusterName) -> None:
    """Try the connection, and say in words what is wrong. Exit code 6 when it cannot be used."""
    found = session.client.clusters.test(name)
    session.show(
        found, f"{'Works' if found['is_ok'] else 'Does not work'}: {found['message']}", [name]
    )
    if not found["is_ok"]:
        raise Exit(6)


@clusters.command("disable")
def disable_cluster(session: Session, name: ClusterName) -> None:
    """No new jobs there; what runs goes on."""
    session.show(
        session.client.clusters.change(name, is_enabled=False),
        f"{name} takes no new jobs. Back: muster cluster enable {name}",
        [name],
    )


@clusters.command("enable")
def enable_cluster(session: Session, name: ClusterName) -> None:
    """Take it into use again."""
    session.show(
        session.client.clusters.change(name, is_enabled=True), f"{name} takes jobs again.", [name]
    )


@clusters.command("remove")
def remove_cluster(session: Session, name: ClusterName) -> None:
    """Remove a cluster on which nothing ever ran, with its pools."""
    session.client.clusters.remove(name)
    session.show({"removed": name}, f"{name} is removed.", [name])


@pools.command("list")
def list_pools(session: Session) -> None:
    """The pools that teams of the organization may use."""
    found = session.client.get("pools")
    rows = ([p["name"], p["cluster"], _rule(p), "every team" if p["is_open"] else ", ".join(p["teams"]) or "nobody here", p["note"]]
            for p in found["items"])  # fmt: skip
    table = Table(
        ["Pool", "Cluster", "Nodes", "Teams", "~Note"],
        rows,
        "No pools: clusters are open to every team.",
    )
    session.show(found, table, [p["name"] for p in found["items"]])


@pools.command("create")
def create_pool(
    session: Session, name: PoolName, cluster: ClusterName,
    partition: Annotated[str, Option("--partition", metavar="NAME")] = "",
    gpu_type: Annotated[str, Option("--gpu-type", metavar="TYPE")] = "",
    label: Annotated[list[str] | None, Option("--label", metavar="NAME=VALUE", help="Nodes that carry it. May be repeated.")] = None,
    note: Annotated[str, Option("--note", metavar="TEXT")] = "",
    is_open: Annotated[bool, Option("--open", help="Every team may use it.")] = False,
) -> None:  # fmt: skip
    """Make a pool of a cluster's nodes. From its first pool on a cluster is used through its pools alone."""
    made = session.client.pools.create(
        name,
        cluster,
        partition=partition,
        gpu_type=gpu_type,
        labels=pairs(label),
        note=note,
        is_open=is_open,
    )
    session.show(
        made, f"Pool {name} is there. Let a team use it: muster pool grant {name} TEAM", [name]
    )


@pools.command("delete")
def delete_pool(session: Session, name: PoolName) -> None:
    """Delete it with its grants; what runs goes on."""
    session.client.pools.delete(name)
    session.show({"deleted": name}, f"Pool {name} is deleted.", [name])


@pools.command("grant")
def grant_pool(
    session: Session, name: PoolName, team: TeamName,
    user: Annotated[str | None, Option("--as", metavar="USER", help="The Unix user that the team's jobs run as (Slurm).")] = None,
    account: Annotated[str | None, Option("--account", metavar="NAME", help="The account they count for (Slurm).")] = None,
    qos: Annotated[str | None, Option("--qos", metavar="NAME", help="Their quality of service (Slurm).")] = None,
) -> None:  # fmt: skip
    """Let a team use it; on a Slurm cluster also as whom. What is given replaces all three."""
    identity = {
        key: value
        for key, value in {"user": user, "account": account, "qos": qos}.items()
        if value is not None
    }
    session.show(
        session.client.pools.grant(name, team, **identity), f"{team} may use {name}.", [name]
    )


@pools.command("revoke")
def revoke_pool(session: Session, name: PoolName, team: TeamName) -> None:
    """New jobs of the team no longer go there; what runs goes on."""
    session.client.pools.revoke(name, team)
    session.show({"revoked": name, "team": team}, f"{team} may no longer use {name}.", [name])


def pairs(given: list[str] | None) -> dict[str, str]:
    """NAME=VALUE, with the value from a file where it begins with @. Raises InvalidInput."""
    found = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InvalidInput(f"{text} must be NAME=VALUE")
        found[name] = _from_file(value[1:]) if value.startswith("@") else value
    return found


def _from_file(path: str) -> str:
    try:
        return sys.stdin.read() if path == "-" else Path(path).read_text()
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror}") from error


def _state(cluster: Json) -> str:
    return "off" if not cluster["is_enabled"] else "in trouble" if cluster["trouble"] else "on"


def _nodes(cluster: Json) -> str:
    nodes = cluster["nodes"]
    return (
        ", ".join(f"{nodes[word]} {word}" for word in ("ready", "drained", "down") if nodes[word])
        or "none"
    )


def _rule(pool: Json) -> str:
    words = [f"partition {pool['partition']}" if pool["partition"] else "", f"with {pool['gpu_type']}" if pool["gpu_type"] else "",
             *(f"{name}={value}" for name, value in pool["labels"].items())]  # fmt: skip
    return ", ".join(filter(None, words)) or "all"
