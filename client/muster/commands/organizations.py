"""Commands for organizations, teams, members and nodes."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from muster.errors import Json
from muster.options import Commands
from muster.output import USE, Column, Listing, Session, Table
from muster.wording import ago, amount, size

COMMANDS = {
    "org": ("organizations", 160, "List organizations; operators can create them."),
    "team": ("teams", 170, "Manage teams and their members."),
    "member": ("members", 180, "Manage members of the organization."),
    "node": ("nodes", 300, "List nodes and GPUs; drain and resume nodes."),
}
organizations = Commands(help="List your organizations; create organizations (operators).")
teams = Commands(help="Manage teams and their members.")
members = Commands(help="Manage members of the organization.")
nodes = Commands(help="List nodes and GPUs; drain and resume nodes.")
TeamName = Annotated[str, Argument(metavar="TEAM")]
Email = Annotated[str, Argument(metavar="EMAIL")]


TEAMS = Listing(
    "ListedTeamShape",
    "slug",
    (
        Column("Team", "slug"),
        Column("~Name", "name"),
        Column("Your role", "role", lambda role: role or "–"),
        Column(">People", "members"),
        *USE,
    ),
)
MEMBERS = Listing(
    "ListedMemberShape",
    "email",
    (
        Column("Person", "name"),
        Column("Email", "email"),
        Column("Role", "", lambda p: p["role"] + " (suspended)" * p["is_suspended"]),
        Column("Teams", "teams", ", ".join),
        *USE,
    ),
)


@organizations.command("list")
def list_organizations(session: Session) -> None:
    """List the organizations that you belong to."""
    found = session.client.organizations.list()
    table = Table(
        ["Organization", "Name", "Your role"],
        ([o["slug"], o["name"], o["role"] or "–"] for o in found),
        "You have no organization yet.",
    )
    session.show(found, table, [o["slug"] for o in found])


@organizations.command("create")
def create_organization(
    session: Session,
    slug: Annotated[str, Argument(metavar="SLUG")],
    owner: Annotated[
        str,
        Option(
            "--owner",
            metavar="EMAIL",
            help="First owner. The account is created if it does not exist.",
        ),
    ],
    name: Annotated[str, Option("--name", metavar="TEXT", help="Display name.")] = "",
    owner_name: Annotated[
        str, Option("--owner-name", metavar="TEXT", help="Name of the first owner.")
    ] = "",
) -> None:
    """Create an organization and its first owner (operators)."""
    made = session.client.organizations.create(slug, owner, name=name, owner_name=owner_name)
    link = (
        f" Send {made['owner']} this link to set a password: {made['url']}" if made["url"] else ""
    )
    session.show(made, f"Created organization {slug}.{link}", [slug])


@teams.command("list")
def list_teams(session: Session) -> None:
    """List the organization's teams, and what each uses: GPU-hours and cost of 30 days."""
    found: Json = {"items": session.client.teams.list(), "next": None}
    session.show_list(found, TEAMS, "No teams yet. Create one: muster team create SLUG")


@teams.command("info")
def team_info(session: Session, name: TeamName) -> None:
    """Show a team."""
    row = session.client.teams.get(name)
    facts = [
        ("Name", row["name"]),
        ("Your role", row["role"] or "–"),
        ("Members", row["members"]),
        ("Created", ago(row.get("created_at"))),
    ]
    session.show(row, Table(["Team", f"~{row['slug']}"], facts, wraps=True), [row["slug"]])


@teams.command("members")
def team_members(session: Session, name: TeamName) -> None:
    """List the members of a team."""
    found = session.client.get(f"teams/{name}/members")
    table = _people(found["items"], f"No members. Add one: muster team add {name} EMAIL")
    session.show(found, table, [p["email"] for p in found["items"]])


@teams.command("create")
def create_team(
    session: Session,
    slug: TeamName,
    name: Annotated[str, Option("--name", metavar="TEXT", help="Display name.")] = "",
) -> None:
    """Create a team."""
    made = session.client.teams.create(slug, name)
    session.show(made, f"Created team {slug}. Add people: muster team add {slug} EMAIL", [slug])


@teams.command("add")
def add_to_team(
    session: Session,
    name: TeamName,
    email: Email,
    role: Annotated[
        str, Option("--role", metavar="ROLE", help="See `muster role list`.")
    ] = "member",
) -> None:
    """Add a member of the organization to a team."""
    made = session.client.teams.add(name, email, role)
    session.show(made, f"{email} is now {role} in team {name}.", [email])


@teams.command("remove")
def remove_from_team(session: Session, name: TeamName, email: Email) -> None:
    """Remove a person from a team."""
    session.client.teams.remove(name, email)
    session.show({"removed": email, "team": name}, f"Removed {email} from team {name}.", [email])


@members.command("list")
def list_members(
    session: Session,
    query: Annotated[
        str, Argument(metavar="[QUERY]", help="Words, and filters such as role:owner.")
    ] = "",
) -> None:
    """List the members of the organization, and what each uses: GPU-hours and cost of 30 days."""
    rows = list(session.client.items("members", limit=200, query=query or None))
    found: Json = {"items": rows, "next": None}
    session.show_list(found, MEMBERS, "No matching members." if query else "No members yet.")


@members.command("add")
def add_member(
    session: Session,
    email: Email,
    name: Annotated[str, Option("--name", metavar="TEXT", help="Display name.")] = "",
    role: Annotated[
        str, Option("--role", metavar="ROLE", help="See `muster role list`.")
    ] = "member",
) -> None:
    """Add a person to the organization. A person with an account is invited instead."""
    made = session.client.members.add(email, name, role)
    if made.get("is_invited"):
        session.show(
            made,
            f"{email} already has an account and becomes {role} by accepting: {made['invite_url']}",
            [email],
        )
        return
    link = f" To set a password: {made['invite_url']}" if made.get("invite_url") else ""
    session.show(made, f"{email} is now {role}.{link}", [email])


@members.command("change")
def change_member(
    session: Session,
    email: Email,
    role: Annotated[str, Option("--role", metavar="ROLE", help="New role.")],
) -> None:
    """Change a member's role. `muster role list` shows the roles."""
    session.show(session.client.members.change(email, role), f"{email} is now {role}.", [email])


@members.command("remove")
def remove_member(session: Session, email: Email) -> None:
    """Remove a person from the organization and all its teams."""
    session.client.members.remove(email)
    session.show({"removed": email}, f"Removed {email} from the organization.", [email])


@nodes.command("list")
def list_nodes(
    session: Session,
    health: Annotated[
        str,
        Option(
            "--health",
            metavar="STATE",
            help="Only these: unhealthy, quarantined, draining, warning or healthy.",
        ),
    ] = "",
) -> None:
    """List nodes with their state, health and resources in use."""
    found: Json = {"items": session.client.nodes.list(health), "next": None}
    rows = (
        [
            n["name"],
            n["cluster"],
            _node_state(n),
            f"{n['cpus']['held']:g}/{n['cpus']['total']:g}",
            size(n["memory"]["total"]),
            _gpus(n),
            ago(n["seen_at"]),
        ]
        for n in found["items"]
    )
    table = Table(
        ["Node", "Cluster", "State", ">CPUs in use", ">Memory", "GPUs", ">Last seen"],
        rows,
        "No nodes yet. An operator has to connect a cluster.",
    )
    session.show(found, table, [n["name"] for n in found["items"]])


@nodes.command("info")
def node_info(session: Session, node: Annotated[str, Argument(metavar="NODE")]) -> None:
    """Show a node and its latest metrics."""
    row = session.client.nodes.get(node)
    latest = (
        [name, amount(v["value"], v["unit"])] for name, v in (row.get("latest") or {}).items()
    )
    head = (
        f"{row['name']}: {'ready' if row['is_ready'] else 'not ready'}, GPUs {_gpus(row)}, seen "
        f"{ago(row['seen_at'])}"
    )
    session.show(row, [head, Table(["Metric", ">Value"], latest, "No metrics yet.")], [row["name"]])


@nodes.command("drain")
def drain_node(
    session: Session,
    cluster: Annotated[str, Argument(metavar="CLUSTER")],
    node: Annotated[str, Argument(metavar="NODE")],
    reason: Annotated[
        str, Option("--reason", "-m", metavar="TEXT", help="Reason, shown with the node.")
    ],
) -> None:
    """Drain a node: no new jobs, running jobs continue (operators)."""
    row = session.client.clusters.drain(cluster, node, reason)
    session.show(
        row, f"Drained {node}: {row['note']}. To undo: muster node resume {cluster} {node}", [node]
    )


@nodes.command("resume")
def resume_node(
    session: Session,
    cluster: Annotated[str, Argument(metavar="CLUSTER")],
    node: Annotated[str, Argument(metavar="NODE")],
) -> None:
    """Resume a drained node (operators)."""
    session.show(session.client.clusters.resume(cluster, node), f"Resumed {node}.", [node])


@nodes.command("health")
def node_health(
    session: Session,
    cluster: Annotated[str, Argument(metavar="CLUSTER")],
    node: Annotated[str, Argument(metavar="NODE")],
) -> None:
    """Show the health of a node: its state, why, and what to do (operators)."""
    row = session.client.clusters.node_health(cluster, node)
    head = f"{node}: {row['state']}" + (f", {row['why']}" if row["why"] else "")
    lines = (
        [
            f["label"],
            f["why"],
            f["action"],
            ago(f["since"]),
            ago(f["ended_at"]) if f["ended_at"] else "lasts",
        ]
        for f in row["findings"]
    )
    table = Table(
        ["Check", "~Finding", "Action", ">Since", ">Ended"], lines, "No check finds anything."
    )
    session.show(
        row, [text for text in (head, row.get("advice")) if text] + [table], [row["state"]]
    )


@nodes.command("quarantine")
def quarantine_node(
    session: Session,
    cluster: Annotated[str, Argument(metavar="CLUSTER")],
    node: Annotated[str, Argument(metavar="NODE")],
    reason: Annotated[
        str, Option("--reason", "-m", metavar="TEXT", help="Reason, shown with the node.")
    ],
) -> None:
    """Take a node out of service until it is returned; no rule returns it (operators)."""
    row = session.client.clusters.quarantine(cluster, node, reason)
    session.show(row, f"Quarantined {node}. To undo: muster node return {cluster} {node}", [node])


@nodes.command("return")
def return_node(
    session: Session,
    cluster: Annotated[str, Argument(metavar="CLUSTER")],
    node: Annotated[str, Argument(metavar="NODE")],
) -> None:
    """Return a node to service; what its checks still find only warns (operators)."""
    row = session.client.clusters.return_node(cluster, node)
    session.show(row, f"Returned {node}: {row['state']}.", [node])


def _people(rows: list[Json], empty: str) -> Table:
    lines = (
        [
            p["name"],
            p["email"],
            p["role"] + " (suspended)" * bool(p.get("is_suspended")),
            ", ".join(p.get("teams") or []),
        ]
        for p in rows
    )
    return Table(["Person", "Email", "Role", "Teams"], lines, empty)


def _node_state(node: Json) -> str:
    state = node.get("state", "ready") if node["is_ready"] else "not ready"
    health = node.get("health", {}).get("state", "healthy")
    return str(state if health == "healthy" else f"{state}, {health}")


def _gpus(node: Json) -> str:
    gpus = node.get("gpus") or []
    if not gpus:
        return str(node.get("note") or "none")
    return f"{sum(bool(gpu.get('is_held')) for gpu in gpus)}/{len(gpus)} {gpus[0].get('type') or ''}".strip()
