"""Organizations, teams, members and nodes."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from muster.errors import Json
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago, amount, size

organizations = Commands(help="The organizations you belong to. Creating one is for operators.")
teams = Commands(help="Teams and who is in them.")
members = Commands(help="People of the organization.")
nodes = Commands(help="Machines and GPUs.")
TeamName = Annotated[str, Argument(metavar="TEAM")]
Email = Annotated[str, Argument(metavar="EMAIL")]


@organizations.command("list")
def list_organizations(session: Session) -> None:
    """The organizations you belong to."""
    found = session.client.organizations.list()
    table = Table(
        ["Organization", "Name", "Your role"],
        ([o["slug"], o["name"], o["role"] or "–"] for o in found),
        "You are in no organization yet.",
    )
    session.show(found, table, [o["slug"] for o in found])


@organizations.command("create")
def create_organization(
    session: Session, slug: Annotated[str, Argument(metavar="SLUG")],
    owner: Annotated[str, Option("--owner", metavar="EMAIL", help="The first owner; an account is made if there is none.")],
    name: Annotated[str, Option("--name", metavar="TEXT")] = "",
    owner_name: Annotated[str, Option("--owner-name", metavar="TEXT")] = "",
) -> None:  # fmt: skip
    """Create an organization with its first owner. For operators."""
    made = session.client.organizations.create(slug, owner, name=name, owner_name=owner_name)
    link = (
        f" Send {made['owner']} this link to set a password: {made['url']}" if made["url"] else ""
    )
    session.show(made, f"Organization {slug} is created.{link}", [slug])


@teams.command("list")
def list_teams(session: Session) -> None:
    """All teams of the organization."""
    found = session.client.get("teams")
    rows = ([t["slug"], t["name"], t["role"] or "–", t["members"]] for t in found["items"])
    table = Table(
        ["Team", "Name", "Your role", ">Members"],
        rows,
        "No teams yet. Make one: muster team create SLUG",
    )
    session.show(found, table, [t["slug"] for t in found["items"]])


@teams.command("info")
def team_info(session: Session, name: TeamName) -> None:
    """One team."""
    row = session.client.teams.get(name)
    facts = [
        ("Name", row["name"]),
        ("Your role", row["role"] or "–"),
        ("Members", row["members"]),
        ("Since", ago(row.get("created_at"))),
    ]
    session.show(row, Table(["Team", f"~{row['slug']}"], facts, wraps=True), [row["slug"]])


@teams.command("members")
def team_members(session: Session, name: TeamName) -> None:
    """Who is in a team."""
    found = session.client.get(f"teams/{name}/members")
    table = _people(found["items"], f"Nobody. Add somebody: muster team add {name} EMAIL")
    session.show(found, table, [p["email"] for p in found["items"]])


@teams.command("create")
def create_team(
    session: Session, slug: TeamName, name: Annotated[str, Option("--name", metavar="TEXT")] = ""
) -> None:
    """Make a team."""
    made = session.client.teams.create(slug, name)
    session.show(made, f"Team {slug} is there. Add people: muster team add {slug} EMAIL", [slug])


@teams.command("add")
def add_to_team(
    session: Session, name: TeamName, email: Email,
    role: Annotated[str, Option("--role", metavar="WORD", help="See muster role list.")] = "member",
) -> None:  # fmt: skip
    """Bring a member of the organization in."""
    made = session.client.teams.add(name, email, role)
    session.show(made, f"{email} is {role} of {name}.", [email])


@teams.command("remove")
def remove_from_team(session: Session, name: TeamName, email: Email) -> None:
    """Take somebody out."""
    session.client.teams.remove(name, email)
    session.show({"removed": email, "team": name}, f"{email} is no longer in {name}.", [email])


@members.command("list")
def list_members(session: Session) -> None:
    """Everybody in the organization."""
    found: Json = {"items": session.client.members.list(), "next": None}
    session.show(
        found, _people(found["items"], "Nobody yet."), [p["email"] for p in found["items"]]
    )


@members.command("add")
def add_member(
    session: Session, email: Email, name: Annotated[str, Option("--name", metavar="TEXT")] = "",
    role: Annotated[str, Option("--role", metavar="WORD", help="See muster role list.")] = "member",
) -> None:  # fmt: skip
    """Bring a person in; who has an account is invited."""
    made = session.client.members.add(email, name, role)
    if made.get("is_invited"):
        session.show(
            made,
            f"{email} has an account, and is {role} once they accept: {made['invite_url']}",
            [email],
        )
        return
    link = f" To set a password: {made['invite_url']}" if made.get("invite_url") else ""
    session.show(made, f"{email} is {role}.{link}", [email])


@members.command("change")
def change_member(
    session: Session, email: Email, role: Annotated[str, Option("--role", metavar="WORD")]
) -> None:
    """Give another role; muster role list says which there are."""
    session.show(session.client.members.change(email, role), f"{email} is {role}.", [email])


@members.command("remove")
def remove_member(session: Session, email: Email) -> None:
    """Out of the organization and all of its teams."""
    session.client.members.remove(email)
    session.show({"removed": email}, f"{email} is no longer a member.", [email])


@nodes.command("list")
def list_nodes(session: Session) -> None:
    """Machines, what is held of them, and how they do."""
    found: Json = {"items": session.client.nodes.list(), "next": None}
    rows = (
        [
            n["name"],
            n["cluster"],
            n.get("state", "ready") if n["is_ready"] else "not ready",
            f"{n['cpus']['held']:g}/{n['cpus']['total']:g}",
            size(n["memory"]["total"]),
            _gpus(n),
            ago(n["seen_at"]),
        ]
        for n in found["items"]
    )
    table = Table(
        ["Node", "Cluster", "State", ">CPU held", ">Memory", "GPUs", ">Seen"],
        rows,
        "No nodes yet. An operator connects a cluster.",
    )
    session.show(found, table, [n["name"] for n in found["items"]])


@nodes.command("info")
def node_info(session: Session, node: Annotated[str, Argument(metavar="NODE")]) -> None:
    """One machine, with its latest measurements."""
    row = session.client.nodes.get(node)
    latest = (
        [name, amount(v["value"], v["unit"])] for name, v in (row.get("latest") or {}).items()
    )
    head = f"{row['name']}: {'ready' if row['is_ready'] else 'not ready'}, GPUs {_gpus(row)}, seen {ago(row['seen_at'])}"
    session.show(
        row, [head, Table(["Measure", ">Now"], latest, "Nothing was measured yet.")], [row["name"]]
    )


@nodes.command("drain")
def drain_node(
    session: Session, cluster: Annotated[str, Argument(metavar="CLUSTER")], node: Annotated[str, Argument(metavar="NODE")],
    reason: Annotated[str, Option("--reason", "-m", metavar="TEXT", help="Why; kept, and shown with the node.")],
) -> None:  # fmt: skip
    """No new jobs on this node; what runs goes on. For operators."""
    row = session.client.clusters.drain(cluster, node, reason)
    session.show(
        row, f"{node} is drained: {row['note']}. Back: muster node resume {cluster} {node}", [node]
    )


@nodes.command("resume")
def resume_node(
    session: Session,
    cluster: Annotated[str, Argument(metavar="CLUSTER")],
    node: Annotated[str, Argument(metavar="NODE")],
) -> None:
    """Take a node into use again. For operators."""
    session.show(session.client.clusters.resume(cluster, node), f"{node} takes jobs again.", [node])


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
    return Table(["Person", "E-mail", "Role", "Teams"], lines, empty)


def _gpus(node: Json) -> str:
    gpus = node.get("gpus") or []
    if not gpus:
        return str(node.get("note") or "none")
    return f"{sum(bool(gpu.get('is_held')) for gpu in gpus)}/{len(gpus)} {gpus[0].get('type') or ''}".strip()
