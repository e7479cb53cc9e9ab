"""Teams, members, quotas and nodes."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from muster.output import Context, ago, amount, show, size, table

teams, members, quotas, nodes = typer.Typer(), typer.Typer(), typer.Typer(), typer.Typer()
Role = Annotated[str, typer.Option("--role")]


@teams.command("list")
def list_teams(context: typer.Context) -> None:
    """All teams."""
    obj: Context = context.obj
    found = obj.client.get("teams")
    show(obj, found, table(["Team", "Name", "Your role", ">Members"], ([t["slug"], t["name"], t["role"], t["members"]] for t in found["items"])),
         [t["slug"] for t in found["items"]])


@teams.command("info")
def team_info(context: typer.Context, team: str) -> None:
    """Who is in a team."""
    obj: Context = context.obj
    row, people = obj.client.get(f"teams/{team}"), obj.client.get(f"teams/{team}/members")["items"]
    show(obj, row | {"members": people}, table(["Person", "E-mail", "Role"], ([p["name"], p["email"], p["role"]] for p in people)), [row["slug"]])


@teams.command("create")
def create_team(context: typer.Context, slug: str, name: Annotated[str, typer.Option()] = "") -> None:
    """Make a team."""
    made = context.obj.client.send("POST", "teams", {"slug": slug, "name": name or slug})
    show(context.obj, made, f"Team {slug} is there.", [slug])


@teams.command("add")
def add_to_team(context: typer.Context, team: str, email: str, role: Role = "member") -> None:
    """Bring a member of the organization in: lead, member or viewer."""
    made = context.obj.client.send("POST", f"teams/{team}/members", {"email": email, "role": role})
    show(context.obj, made, f"{email} is {role} of {team}.", [email])


@teams.command("remove")
def remove_from_team(context: typer.Context, team: str, email: str) -> None:
    """Take somebody out."""
    context.obj.client.send("DELETE", f"teams/{team}/members/{email}")
    show(context.obj, {"removed": email}, f"{email} is no longer in {team}.", [email])


@members.command("list")
def list_members(context: typer.Context) -> None:
    """Everybody in the organization."""
    obj: Context = context.obj
    found = obj.client.get("members")
    show(obj, found, table(["Person", "E-mail", "Role", "Teams"], ([m["name"], m["email"], m["role"], ", ".join(m["teams"])] for m in found["items"])),
         [m["email"] for m in found["items"]])


@members.command("add")
def add_member(context: typer.Context, email: str, name: Annotated[str, typer.Option()] = "", role: Role = "member") -> None:
    """Bring a person in: owner, admin, member or viewer."""
    made = context.obj.client.send("POST", "members", {"email": email, "name": name, "role": role})
    link = f" To set a password: {made['invite_url']}" if made.get("invite_url") else ""
    show(context.obj, made, f"{email} is {role}.{link}", [email])


@members.command("remove")
def remove_member(context: typer.Context, email: str) -> None:
    """Out of the organization and all of its teams."""
    context.obj.client.send("DELETE", f"members/{email}")
    show(context.obj, {"removed": email}, f"{email} is no longer a member.", [email])


@quotas.command("list")
def list_quotas(context: typer.Context) -> None:
    """What is held, and the limits."""
    obj: Context = context.obj
    found = obj.client.get("quotas")
    show(obj, found, table(["Whose", "Of what", ">Held", ">Limit"], (
        [f"{q['scope']} {q['subject']}", q["resource"], amount(q["used"], q["unit"]), amount(q["limit"], q["unit"])] for q in found["items"]))
        if found["items"] else "Nothing is held, and no limit is set.")


@quotas.command("set")
def set_quota(context: typer.Context, resource: Annotated[str, typer.Argument(help="cpu, memory (bytes), gpu, gpu.<type>, jobs")],
              limit: Annotated[str, typer.Argument(help="A number, or none.")], of_team: Annotated[Optional[str], typer.Option("--of-team")] = None,  # noqa: UP045
              of_user: Annotated[Optional[str], typer.Option("--of-user")] = None) -> None:  # noqa: UP045
    """Set or lift a limit: of the organization, or of a team or a person."""
    scope = "team" if of_team else "user" if of_user else "org"
    made = context.obj.client.send("PUT", "quotas", {"scope": scope, "subject": of_team or of_user or "", "resource": resource,
                                                     "limit": None if limit == "none" else float(limit)})
    show(context.obj, made, f"{made['scope']} {made['subject']}: {amount(made['limit'], made['unit'])} of {resource}.")


@nodes.command("list")
def list_nodes(context: typer.Context) -> None:
    """Machines, what is held of them, and how they do."""
    obj: Context = context.obj
    found = obj.client.get("nodes")
    show(obj, found, table(["Node", "Cluster", "State", ">CPU held", ">Memory", "GPUs", ">Seen"], (
        [n["name"], n["cluster"], "ready" if n["is_ready"] else "not ready", f"{n['cpus']['held']:g}/{n['cpus']['total']:g}", size(n["memory"]["total"]),
         _gpus(n), ago(n["seen_at"])] for n in found["items"])) if found["items"] else "No nodes yet.", [n["name"] for n in found["items"]])


@nodes.command("info")
def node_info(context: typer.Context, node: str) -> None:
    """One machine, with its latest measurements."""
    obj: Context = context.obj
    row = obj.client.get(f"nodes/{node}")
    show(obj, row, table([row["name"], ""], ([name, amount(v["value"], v["unit"])] for name, v in row["latest"].items())), [row["name"]])


def _gpus(node: dict) -> str:  # type: ignore[type-arg]
    if not node["gpus"]:
        return str(node["note"] or "none")
    held = sum(g["is_held"] for g in node["gpus"])
    return f"{held}/{len(node['gpus'])} {node['gpus'][0]['type']}"
