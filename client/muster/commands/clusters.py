"""Commands for clusters and pools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

from muster.errors import InvalidInput, Json
from muster.options import Commands
from muster.output import Column, Listing, Session, Table
from muster.streams import read_text
from muster.wording import ago

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.shapes.clusters import (
        ClusterShape,
        ConnectionCheckShape,
        GpuUseShape,
        NodeCountsShape,
        PoolShape,
    )

COMMANDS = {
    "cluster": ("clusters", 310, "Connect and manage clusters (operators)."),
    "pool": ("pools", 330, "Manage pools and which teams may use them."),
}
clusters = Commands(help="Connect, test, disable and remove clusters (operators).")
pools = Commands(help="Manage pools of nodes and which teams may use them.")
ClusterName = Annotated[str, Argument(metavar="CLUSTER")]
PoolName = Annotated[str, Argument(metavar="POOL")]
TeamName = Annotated[str, Argument(metavar="TEAM")]
Options = Annotated[
    list[str] | None,
    Option(
        "--set",
        metavar="NAME=VALUE",
        help="Set an option; NAME=@FILE reads a file, NAME=@- standard input. Repeatable.",
    ),
]

Unset = Annotated[
    list[str] | None,
    Option(
        "--unset",
        metavar="NAME",
        help="Reset an option to its default, or remove a secret. Repeatable.",
    ),
]


@clusters.command("list")
def list_clusters(session: Session) -> None:
    """List clusters with their state, nodes and GPUs."""
    session.show_list(
        session.client.clusters.all(),
        CLUSTERS,
        "No clusters yet. Connect one: muster cluster connect NAME KIND --set NAME=VALUE",
    )


@clusters.command("show")
def show_cluster(session: Session, name: ClusterName) -> None:
    """Show a cluster and its options. Secrets are never shown."""
    row = session.client.clusters.get(name)
    facts = [
        ("Kind", row["title"]),
        ("State", _state(row)),
        ("Nodes", _nodes(row["nodes"])),
        ("GPUs in use", _used(row["gpus"])),
        ("Last seen", ago(row["seen_at"])),
        *([("Disk", disk["warning"] or disk["text"])] if (disk := row["disk"]) else []),
        *([("Problem", row["trouble"])] if row["trouble"] else []),
        *((option, str(value)) for option, value in row["options"].items()),
    ]
    session.show(row, Table(["Cluster", f"~{row['name']}"], facts, wraps=True), [row["name"]])


@clusters.command("connect")
def connect_cluster(
    session: Session,
    name: ClusterName,
    kind: Annotated[str, Argument(metavar="KIND", help="local, slurm or kubernetes.")],
    options: Options = None,
) -> None:
    """Connect a cluster. Its nodes are discovered automatically."""
    made = session.client.clusters.connect(name, kind, pairs(options))
    session.show(made, f"Connected {name}. Test it: muster cluster test {name}", [name])


@clusters.command("change")
def change_cluster(
    session: Session, name: ClusterName, options: Options = None, unset: Unset = None
) -> None:
    """Change options of a cluster. Other options keep their values."""
    given = {**pairs(options), **dict.fromkeys(unset or [])}
    session.show(session.client.clusters.change(name, options=given), f"Updated {name}.", [name])


@clusters.command("test")
def test_cluster(session: Session, name: ClusterName) -> None:
    """Test the connection and explain what is wrong. Exit code 6 if it fails."""
    found = session.client.clusters.test(name)
    lines = [f"{'OK' if found['is_ok'] else 'Failed'}: {found['message']}"]
    lines += [f"Warning: {text}" for text in found.get("warnings", [])]
    session.show(found, ["\n".join(lines), check_table(found.get("checks", []))], [name])
    if not found["is_ok"]:
        raise Exit(6)


def check_table(checks: Sequence[ConnectionCheckShape]) -> Table:
    """Return the checklist of a connection test, with the option at which each problem is."""
    rows = ([c["state"], c["label"], c["field"], c["message"]] for c in checks)
    return Table(["State", "Check", "Option", "~Message"], rows, "", wraps=True)


@clusters.command("health")
def cluster_health(
    session: Session,
    name: ClusterName,
    settings: Annotated[
        list[str] | None,
        Option(
            "--set",
            metavar="CHECK.SETTING=VALUE",
            help="Change a check (action, threshold, minutes, returns), or is_acting, most_percent, "
            "most_per_hour. Repeatable.",
        ),
    ] = None,
    preset: Annotated[
        str, Option("--preset", metavar="NAME", help="Set all checks: watch, standard or strict.")
    ] = "",
    reset: Annotated[
        bool, Option("--reset", help="Let the rules act again after they stopped.")
    ] = False,
) -> None:
    """Show or change the health checks of a cluster, its limits and its nodes by health."""
    if reset:
        session.client.clusters.reset_health(name)
    if settings or preset:
        changes = _health_changes(settings or []) | ({"preset": preset} if preset else {})
        session.client.clusters.change_health(name, **changes)
    row = session.client.clusters.health(name)
    counts = ", ".join(f"{n} {state}" for state, n in row["counts"].items() if n)
    acting = "stopped: " + row["stopped"] if row["stopped_at"] else "acting"
    lines = (
        [
            c["code"],
            c["label"],
            c["action"],
            f"{c['threshold']:g} {c['unit']}" if c["has_threshold"] else "",
            c["minutes"],
            c["returns"] or "operator",
        ]
        for c in row["checks"]
    )
    head = (
        f"{counts or 'no nodes'}. Rules: {acting if row['is_acting'] else 'only warn'}; at most "
        f"{row['most_percent']}% of the nodes and {row['most_per_hour']} an hour."
    )
    table = Table(
        ["Check", "~Label", "Action", ">From", ">Lasting (min)", ">Returns after (min)"], lines, ""
    )
    session.show(row, [head, table], [name])


def _health_changes(settings: list[str]) -> Json:
    """Parse "temperature.threshold=85" and "most_percent=20"."""
    found: Json = {}
    for text in settings:
        path, has_value, value = text.partition("=")
        check, _, setting = path.partition(".")
        if not has_value:
            raise InvalidInput(f"{text!r}: write CHECK.SETTING=VALUE")
        parsed: object = value
        if value in ("true", "false"):
            parsed = value == "true"
        elif setting != "action":
            try:
                parsed = float(value) if "." in value else int(value)
            except ValueError:
                raise InvalidInput(f"{text!r}: the value must be a number") from None
        if setting:
            found.setdefault("checks", {}).setdefault(check, {})[setting] = parsed
        else:
            found[check] = parsed
    return found


@clusters.command("disable")
def disable_cluster(session: Session, name: ClusterName) -> None:
    """Stop placing new jobs on a cluster. Running jobs continue."""
    session.show(
        session.client.clusters.change(name, is_enabled=False),
        f"Disabled {name}. To undo: muster cluster enable {name}",
        [name],
    )


@clusters.command("enable")
def enable_cluster(session: Session, name: ClusterName) -> None:
    """Enable a cluster again."""
    session.show(session.client.clusters.change(name, is_enabled=True), f"Enabled {name}.", [name])


@clusters.command("remove")
def remove_cluster(session: Session, name: ClusterName) -> None:
    """Remove a cluster that never ran a job, with its pools."""
    session.client.clusters.remove(name)
    session.show({"removed": name}, f"Removed {name}.", [name])


@pools.command("list")
def list_pools(session: Session) -> None:
    """List the pools that the organization's teams may use."""
    session.show_list(
        session.client.get("pools"), POOLS, "No pools. All teams can use all clusters."
    )


@pools.command("create")
def create_pool(
    session: Session,
    name: PoolName,
    cluster: ClusterName,
    partition: Annotated[str, Option("--partition", metavar="NAME", help="Slurm partition.")] = "",
    gpu_type: Annotated[str, Option("--gpu-type", metavar="TYPE")] = "",
    label: Annotated[
        list[str] | None,
        Option("--label", metavar="NAME=VALUE", help="Include nodes with this label. Repeatable."),
    ] = None,
    note: Annotated[str, Option("--note", metavar="TEXT", help="Description shown to teams.")] = "",
    is_open: Annotated[bool, Option("--open", help="Allow all teams to use it.")] = False,
) -> None:
    """Create a pool from a cluster's nodes.

    Once a cluster has a pool, jobs reach it only through its pools.
    """
    made = session.client.pools.create(
        name,
        cluster,
        partition=partition,
        gpu_type=gpu_type,
        labels=pairs(label),
        note=note,
        is_open=is_open,
    )
    hint = "" if is_open else f" Grant it to a team: muster pool grant {name} TEAM"
    session.show(made, f"Created pool {name}.{hint}", [name])


@pools.command("delete")
def delete_pool(session: Session, name: PoolName) -> None:
    """Delete a pool and its grants. Running jobs continue."""
    session.client.pools.delete(name)
    session.show({"deleted": name}, f"Deleted pool {name}.", [name])


@pools.command("request")
def request_pool(
    session: Session,
    team: TeamName,
    gpus: Annotated[
        str, Option("--gpus", metavar="TYPE:N", help="Such as h100:8 or mig-1g.10gb:14.")
    ],
    until: Annotated[str, Option("--until", metavar="DATE", help="Such as 2027-01-31.")],
    start: Annotated[str, Option("--from", metavar="DATE", help="Default: once approved.")] = "",
    purpose: Annotated[str, Option("--purpose", metavar="TEXT")] = "",
    budget: Annotated[int | None, Option("--budget", metavar="GPU-HOURS")] = None,
) -> None:
    """Ask for GPUs for a team until a date. An operator decides."""
    kind, _, number = gpus.rpartition(":")
    if not kind or not number.isdigit():
        raise InvalidInput("--gpus is written TYPE:N, such as h100:8")
    more = {"purpose": purpose, "budget": budget, "starts_at": start and f"{start}T00:00:00Z"}
    made = session.client.pools.request(
        team,
        kind,
        int(number),
        f"{until}T23:59:59Z",
        **{name: value for name, value in more.items() if value},
    )
    session.show(made, f"Requested {number} × {kind} for {team}.", [made["id"]])


@pools.command("requests")
def list_requests(session: Session) -> None:
    """List requests for GPUs: open, active, then past."""
    found: Json = {"items": session.client.pools.requests(), "next": None}
    rows = (
        [
            r["id"],
            r["team"],
            f"{r['gpus']} × {r['gpu_type']}",
            r["state"],
            r["ends_at"][:10],
            r["pool"] or "–",
            (r["reservation"] or {}).get("state", "–"),
            r["word"],
        ]
        for r in found["items"]
    )
    table = Table(
        ["Request", "Team", "GPUs", "State", "Until", "Pool", "Reservation", "~Message"],
        rows,
        "No requests. Ask for GPUs: muster pool request TEAM --gpus h100:8 --until DATE",
    )
    session.show(found, table, [r["id"] for r in found["items"]])


@pools.command("reservation")
def show_reservation(
    session: Session, request: Annotated[str, Argument(metavar="REQUEST")]
) -> None:
    """Show how the GPUs of a request are kept for the team; operators see it before approving."""
    row = session.client.pools.get_request(request)
    kept = row["reservation"]
    if kept:
        lines = [
            f"{kept['name']}: {kept['state']} until {kept['ends_at'][:16].replace('T', ' ')} UTC",
            f"{kept['gpus']} GPUs on {', '.join(kept['nodes'])}",
            *([kept["note"]] if kept["note"] else []),
        ]
    elif row["state"] == "open":
        lines = [
            f"{pool['pool']}: {plan['problem'] or plan['text']}"
            for pool in row.get("what_if", ())
            if (plan := pool["reservation"])
        ] or ["An operator decides first."]
    else:
        lines = ["These GPUs are not exclusive."]
    session.show(row, "\n".join(lines), [row["id"]])


@pools.command("renew")
def renew_request(
    session: Session,
    request: Annotated[str, Argument(metavar="REQUEST")],
    until: Annotated[str, Option("--until", metavar="DATE", help="Such as 2027-01-31.")],
) -> None:
    """Ask to keep the GPUs of a request longer. An operator decides."""
    row = session.client.pools.get_request(request)
    more = {name: row[name] for name in ("purpose", "budget") if row[name]}
    made = session.client.pools.request(
        row["team"],
        row["gpu_type"],
        row["gpus"],
        f"{until}T23:59:59Z",
        starts_at=row["ends_at"],
        renews=row["id"],
        **more,
    )
    session.show(made, f"Requested {row['gpus']} × {row['gpu_type']} until {until}.", [made["id"]])


@pools.command("decide")
def decide_request(
    session: Session,
    request: Annotated[str, Argument(metavar="REQUEST")],
    do: Annotated[str, Argument(metavar="approve|decline|withdraw|return")],
    pool: Annotated[str, Option("--pool", metavar="POOL", help="Where, to approve.")] = "",
    message: Annotated[str, Option("--message", metavar="TEXT")] = "",
) -> None:
    """Approve or decline a request (operators); withdraw it or return its GPUs (the team)."""
    given = {"pool": pool, "word": message}
    row = session.client.pools.decide(request, do, **{k: v for k, v in given.items() if v})
    session.show(row, f"{row['gpus']} × {row['gpu_type']}: {row['state']}.", [row["id"]])


@pools.command("grant")
def grant_pool(
    session: Session,
    name: PoolName,
    team: TeamName,
    user: Annotated[
        str | None,
        Option("--as", metavar="USER", help="Unix user that the team's jobs run as (Slurm)."),
    ] = None,
    account: Annotated[
        str | None,
        Option("--account", metavar="NAME", help="Account that they are charged to (Slurm)."),
    ] = None,
    qos: Annotated[
        str | None, Option("--qos", metavar="NAME", help="QOS of the team's jobs (Slurm).")
    ] = None,
) -> None:
    """Grant a pool to a team. On Slurm, --as, --account and --qos replace the previous values."""
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
    """Revoke a team's access to a pool. Running jobs continue."""
    session.client.pools.revoke(name, team)
    session.show({"revoked": name, "team": team}, f"{team} may no longer use {name}.", [name])


@pools.command("idle-rule")
def idle_rule(
    session: Session,
    name: PoolName,
    metric: Annotated[
        str, Option("--metric", metavar="METRIC", help="auto, sm, power, utilization or ports.")
    ] = "",
    threshold: Annotated[int, Option("--below", metavar="PERCENT")] = 0,
    watts: Annotated[int, Option("--watts", metavar="W", help="Per GPU, for power.")] = 0,
    window: Annotated[int, Option("--window", metavar="MINUTES")] = 0,
    action: Annotated[str, Option("--action", metavar="ACTION", help="warn, lower or stop.")] = "",
    grace: Annotated[
        int, Option("--grace", metavar="MINUTES", help="From the warning to the action.")
    ] = 0,
    exempt: Annotated[
        list[str] | None,
        Option("--exempt", metavar="LABEL", help="Such as kind=debug. Repeatable."),
    ] = None,
    enable: Annotated[bool | None, Option("--enable/--disable")] = None,
    delete: Annotated[bool, Option("--delete", help="Delete the rule.")] = False,
) -> None:
    """Show the rule for idle GPUs of a pool, after changing what is given (operators)."""
    if delete:
        session.client.pools.delete_idle_rule(name)
        session.show({"deleted": name}, f"Deleted the rule of {name}.", [name])
        return
    given: Json = {
        "metric": metric,
        "threshold": threshold,
        "watts": watts,
        "window": window,
        "action": action,
        "grace": grace,
        "exempt": exempt,
    }
    fields = {key: value for key, value in given.items() if value}
    if enable is not None:
        fields["is_enabled"] = enable
    pools = session.client.pools
    rule = pools.set_idle_rule(name, **fields) if fields else pools.idle_rule(name)
    power = f" or {rule['watts']} W" if rule["watts"] else ""
    limit = f"below {rule['threshold']}%{power} ({rule['metric']})"
    if rule["metric"] == "ports":
        limit = "ports not used"
    text = (
        f"{'Enabled' if rule['is_enabled'] else 'Disabled'}: {limit} for {rule['window']} "
        f"minutes, then {rule['action']}"
        + (f" {rule['grace']} minutes after the warning" if rule["action"] != "warn" else "")
        + f". Exempt: {', '.join(rule['exempt']) or 'none'}."
    )
    session.show(rule, text, [name])


@pools.command("idle-jobs")
def idle_jobs(session: Session, name: PoolName) -> None:
    """List the jobs that the rule of a pool finds idle now; nothing is done (operators)."""
    rows = session.client.pools.idle_jobs(name)
    cells = (
        [
            f"#{row['number']}",
            row["name"],
            row["owner"],
            f"{row['organization']}/{row['team']}",
            str(row["gpus"]),
            f"{row['metric']} {row['value']}",
            (row["acts_at"] or "-")[:16],
        ]
        for row in rows
    )
    columns = ["Job", "~Name", "~Owner", "Team", ">GPUs", "Measured", "Acts at"]
    table = Table(columns, cells, "The rule finds no idle job now.")
    session.show({"items": rows, "next": None}, table, [row["page"] for row in rows])


def pairs(given: list[str] | None) -> dict[str, str]:
    """Parse NAME=VALUE options; a value @FILE is read from that file. Raises InvalidInput."""
    found = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InvalidInput(f"{text} must be NAME=VALUE")
        found[name] = _from_file(value[1:]) if value.startswith("@") else value
    return found


def _from_file(path: str) -> str:
    return read_text(path)


def _state(cluster: ClusterShape) -> str:
    if not cluster["is_enabled"]:
        return "disabled"
    return "degraded" if cluster["trouble"] else "ready"


def _nodes(nodes: NodeCountsShape) -> str:
    counts = {"ready": nodes["ready"], "drained": nodes["drained"], "down": nodes["down"]}
    return ", ".join(f"{count} {state}" for state, count in counts.items() if count) or "none"


def _used(gpus: GpuUseShape) -> str:
    return f"{gpus['used']}/{gpus['total']}"


def _teams(pool: PoolShape) -> str:
    return "all teams" if pool["is_open"] else ", ".join(pool["teams"]) or "none"


def _rule(pool: PoolShape) -> str:
    parts = [
        f"partition {pool['partition']}" if pool["partition"] else "",
        f"with {pool['gpu_type']}" if pool["gpu_type"] else "",
        *(f"{name}={value}" for name, value in pool["labels"].items()),
    ]
    return ", ".join(filter(None, parts)) or "all"


CLUSTERS = Listing(
    "ClusterShape",
    "name",
    (
        Column("Cluster", "name"),
        Column("Kind", "title"),
        Column("State", "", _state),
        Column("Nodes", "nodes", _nodes),
        Column(">GPUs in use", "gpus", _used),
        Column(">Last seen", "seen_at", ago),
        Column("~Problem", "trouble"),
    ),
)
POOLS = Listing(
    "PoolShape",
    "name",
    (
        Column("Pool", "name"),
        Column("Cluster", "cluster"),
        Column("Nodes", "", _rule),
        Column("Teams", "", _teams),
        Column("~Note", "note"),
    ),
)
