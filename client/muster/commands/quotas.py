"""Quotas: what is held, the limits, and what is guaranteed."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from muster.errors import InvalidInput, Json
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import amount

quotas = Commands(help="What is held, the limits, and what is guaranteed.")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_NOTHING = "Nothing is held, and no limit is set. Set one: muster quota set gpu 8"


@quotas.command("list")
def list_quotas(session: Session) -> None:
    """What is held, and the limits."""
    found = session.client.get("quotas")
    rows = ([q["scope"], q["subject"], q["resource"], amount(q["used"], q["unit"]), amount(q["limit"], q["unit"])] for q in found["items"])
    table = Table(["Of", "Who", "Resource", ">Held", ">Limit"], rows, _NOTHING)
    session.show(found, table, [f"{q['scope']}:{q['subject']}:{q['resource']}" for q in found["items"]])


@quotas.command("show")
def show_quotas(
    session: Session,
    user: Annotated[str, Option("--user", metavar="EMAIL", help="Of a person.")] = "",
) -> None:
    """Held, guaranteed, limit and left of the organization and its teams; with --team or --user, of that team or person."""
    found = session.client.get("quotas")
    whose = ("team", session.team) if session.team else ("user", user) if user else None
    shown = [q for q in found["items"] if whose in (None, (q["scope"], q["subject"]))]
    rows = (
        [q["subject"], q["resource"], *(amount(n, q["unit"]) for n in (q["used"], q["guaranteed"] or None, q["limit"], q["left"]))]
        for q in shown
    )
    table = Table(["Whose", "Resource", ">Held", ">Guaranteed", ">Limit", ">Left"], rows, _NOTHING)
    session.show(found | {"items": shown}, table, [f"{q['scope']}:{q['subject']}:{q['resource']}" for q in shown])


@quotas.command("set")
def set_quota(
    session: Session,
    resource: Annotated[str, Argument(metavar="RESOURCE", help="cpu, memory, gpu, gpu.<type>, jobs or gpu-hours (of a month).")],
    limit: Annotated[str, Argument(metavar="[LIMIT]", help="A number, for memory also 512G, or none.")] = "",
    user: Annotated[str, Option("--user", metavar="EMAIL", help="Of a person.")] = "",
    guaranteed: Annotated[str, Option("--guaranteed", metavar="AMOUNT", help="Kept free for them; none for nothing.")] = "",
) -> None:
    """Set or lift a limit of the organization; with --team or --user, of that team or person."""
    if user and session.team:
        raise InvalidInput("Name a team or a user, not both")
    if not limit and not guaranteed:
        raise InvalidInput("Name a limit, or --guaranteed")
    wish = {name: _amount(text) for name, text in (("limit", limit), ("guaranteed", guaranteed)) if text}
    made = session.client.quotas.change(resource, team=session.team or "", user=user, **wish)
    session.show(made, f"{made['scope']} {made['subject']}: {_limit_text(made)} {resource}{_guaranteed_text(made)}.", [made["resource"]])


def _limit_text(made: Json) -> str:
    return "no limit of" if made["limit"] is None else f"at most {amount(made['limit'], made['unit'])} of"


def _guaranteed_text(made: Json) -> str:
    return f", {amount(made['guaranteed'], made['unit'])} guaranteed" if made.get("guaranteed") else ""


def _amount(text: str) -> float | None:
    if text.lower() == "none":
        return None
    head = text.rstrip("iBb")
    unit = _UNITS.get(head[-1:].upper(), 1)
    try:
        return round(float(head[:-1]) * unit) if unit > 1 else float(head)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"{text} is no amount: write a number, for memory also 512G, or none") from error
