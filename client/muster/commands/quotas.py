"""Quotas: what is held, the limits, what is guaranteed; asking for more, and what a team's jobs may be."""

from __future__ import annotations

import re
from typing import Annotated, Any

from typer import Argument, Option

from muster.errors import InvalidInput, Json, NotFound
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago, amount, clean, seconds, timespan

quotas = Commands(help="What is held, the limits, and what is guaranteed.")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_ANY = "any"
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_RULES = {"max_runtime": "Longest run time", "default_runtime": "Run time of a job that names none", "max_gpus": "Most GPUs of a task",
          "images": "Images", "pools": "Pools", "default_pool": "Pool of a job that names none"}  # fmt: skip
RequestId = Annotated[str, Argument(metavar="ID", help="From `muster quota requests`.")]
Word = Annotated[str, Option("--word", "-m", metavar="TEXT", help="For whoever asked.")]
_NOTHING = "Nothing is held, and no limit is set. Set one: muster quota set gpu 8"


@quotas.command("list")
def list_quotas(session: Session) -> None:
    """What is held, and the limits."""
    found = session.client.get("quotas")
    rows = (
        [
            q["scope"],
            q["subject"],
            q["resource"],
            amount(q["used"], q["unit"]),
            amount(q["limit"], q["unit"]),
        ]
        for q in found["items"]
    )
    table = Table(["Of", "Who", "Resource", ">Held", ">Limit"], rows, _NOTHING)
    session.show(
        found, table, [f"{q['scope']}:{q['subject']}:{q['resource']}" for q in found["items"]]
    )


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
        [
            q["subject"],
            q["resource"],
            *(
                amount(n, q["unit"])
                for n in (q["used"], q["guaranteed"] or None, q["limit"], q["left"])
            ),
        ]
        for q in shown
    )
    table = Table(["Whose", "Resource", ">Held", ">Guaranteed", ">Limit", ">Left"], rows, _NOTHING)
    session.show(
        found | {"items": shown},
        table,
        [f"{q['scope']}:{q['subject']}:{q['resource']}" for q in shown],
    )


@quotas.command("set")
def set_quota(
    session: Session,
    resource: Annotated[
        str,
        Argument(
            metavar="RESOURCE",
            help="cpu, memory, gpu, gpu.<type>, jobs, gpu-hours (a month), storage (logs).",
        ),
    ],
    limit: Annotated[
        str, Argument(metavar="[LIMIT]", help="A number, for bytes also 512G, or none.")
    ] = "",
    user: Annotated[str, Option("--user", metavar="EMAIL", help="Of a person.")] = "",
    guaranteed: Annotated[
        str, Option("--guaranteed", metavar="AMOUNT", help="Kept free for them; none for nothing.")
    ] = "",
) -> None:
    """Set or lift a limit of the organization; with --team or --user, of that team or person."""
    if user and session.team:
        raise InvalidInput("Name a team or a user, not both")
    if not limit and not guaranteed:
        raise InvalidInput("Name a limit, or --guaranteed")
    wish = {
        name: _amount(text) for name, text in (("limit", limit), ("guaranteed", guaranteed)) if text
    }
    made = session.client.quotas.change(resource, team=session.team or "", user=user, **wish)
    session.show(
        made,
        f"{made['scope']} {made['subject']}: {_limit_text(made)} {resource}{_guaranteed_text(made)}.",
        [made["resource"]],
    )


@quotas.command("storage")
def show_storage(
    session: Session,
    user: Annotated[
        str, Option("--user", metavar="EMAIL", help="Of a person; me for oneself.")
    ] = "",
    limit: Annotated[int, Option("--limit", "-l", min=1, metavar="N")] = 20,
) -> None:
    """What takes the space: the jobs with the largest logs; with --team or --user, of that team or person."""
    found = session.client.get("storage", team=session.team or "", owner=user, limit=limit)
    rows = ([f"#{row['number']}", row["name"], amount(row["bytes"], "bytes"), row["owner"]["email"], row["team"], ago(row["finished_at"])]
            for row in found["items"])  # fmt: skip
    table = Table(
        ["Job", "~Name", ">Logs", "Who", "Team", "Ended"],
        rows,
        "No logs are kept. A log counts within a minute after its job has ended.",
    )
    session.show(found, table, [row["number"] for row in found["items"]])


@quotas.command("request")
def request(
    session: Session,
    resource: Annotated[
        str,
        Argument(
            metavar="RESOURCE", help="cpu, memory, gpu, gpu.<type>, jobs, gpu-hours or storage."
        ),
    ],
    limit: Annotated[
        str, Argument(metavar="LIMIT", help="What would be enough: a number, for memory also 512G.")
    ],
    user: Annotated[
        str, Option("--user", metavar="EMAIL", help="For a person; - for oneself.")
    ] = "",
    why: Annotated[str, Option("--why", "-m", metavar="TEXT", help="For whoever decides.")] = "",
    job: Annotated[str, Option("--job", metavar="JOB", help="The job that waits for it.")] = "",
) -> None:
    """Ask for a higher limit of the organization; with --team or --user, of that team or person."""
    if user and session.team:
        raise InvalidInput("Name a team or a user, not both")
    wanted, number = _amount(limit), job.removeprefix("#")
    if wanted is None:
        raise InvalidInput("Say how much would be enough: a number, for memory also 512G")
    if number and not number.isdecimal():
        raise InvalidInput(f"{job} is no job: write its number, as muster job list shows it")
    whom = session.client.me()["email"] if user == "-" else user
    made = session.client.quotas.request(
        resource,
        wanted,
        team=session.team or "",
        user=whom,
        why=why,
        job=int(number) if number else None,
    )
    told = f"Asked for {_asked(made)}. Whoever sets limits decides; see: muster quota requests"
    session.show(made, told, [made["id"]])


@quotas.command("requests")
def list_requests(
    session: Session, is_all: Annotated[bool, Option("--all", "-a", help="Those that were decided, too.")] = False,
) -> None:  # fmt: skip
    """Requests for higher limits that are open: your own, and everybody's if you set limits."""
    found = session.client.get("quotas/requests")
    shown = [r for r in found["items"] if is_all or r["state"] == "open"]
    rows = (
        [
            r["id"],
            r["asker"],
            _asked(r),
            r["state"],
            ago(r["decided_at"] or r["created_at"]),
            r["word"] or r["why"],
        ]
        for r in shown
    )
    empty = (
        "Nothing was asked for. Ask: muster quota request gpu 8"
        if is_all
        else "No request is open. Decided ones: muster quota requests --all"
    )
    session.show(
        found | {"items": shown},
        Table(["Id", "Asked by", "For", "State", "When", "~Said"], rows, empty),
        [r["id"] for r in shown],
    )


@quotas.command("approve")
def approve(session: Session, request_id: RequestId, word: Word = "") -> None:
    """Raise the limit as it was asked, at once."""
    _decide(session, request_id, "approve", word)


@quotas.command("decline")
def decline(session: Session, request_id: RequestId, word: Word = "") -> None:
    """Leave the limit as it is; say why with -m."""
    _decide(session, request_id, "decline", word)


@quotas.command("withdraw")
def withdraw(session: Session, request_id: RequestId) -> None:
    """Take back what you asked for yourself."""
    _decide(session, request_id, "withdraw", "")


@quotas.command("rules")
def rules(
    session: Session,
    team: Annotated[str, Argument(metavar="TEAM")],
    max_runtime: Annotated[
        str,
        Option(
            "--max-runtime",
            metavar="TIME",
            help="The longest that a job may ask for, as 2d or 1d12h.",
        ),
    ] = "",
    default_runtime: Annotated[
        str, Option("--default-runtime", metavar="TIME", help="Of a job that names none.")
    ] = "",
    max_gpus: Annotated[
        str, Option("--max-gpus", metavar="N", help="Of one task, on all of its nodes.")
    ] = "",
    image: Annotated[
        list[str] | None,
        Option(
            "--image",
            metavar="GLOB",
            help="All that are allowed, once for each; none: jobs without one.",
        ),
    ] = None,
    pool: Annotated[
        list[str] | None,
        Option("--pool", metavar="NAME", help="All that are allowed, once for each."),
    ] = None,
    default_pool: Annotated[
        str, Option("--default-pool", metavar="NAME", help="Of a job that names none.")
    ] = "",
) -> None:
    """What a team's jobs may be; with options, set those rules and leave the rest. The word any lifts a rule."""
    text = {
        "max_runtime": max_runtime,
        "default_runtime": default_runtime,
        "max_gpus": max_gpus,
        "default_pool": default_pool,
    }
    given: dict[str, Any] = {name: _rule(name, value) for name, value in text.items() if value}
    given |= {
        name: [v for v in values if v != _ANY]
        for name, values in (("images", image), ("pools", pool))
        if values
    }
    found = (
        session.client.teams.set_rules(team, **given) if given else session.client.teams.rules(team)
    )
    table = Table(
        ["Rule", "~Is"],
        [[title, _rule_text(name, found[name])] for name, title in _RULES.items()],
        wraps=True,
    )
    session.show(
        found,
        table,
        [
            f"{name}={_rule_text(name, found[name])}"
            for name in _RULES
            if found[name] not in (None, "", [])
        ],
    )


def _decide(session: Session, request_id: str, do: str, word: str) -> None:
    if not _UUID.fullmatch(request_id):
        raise NotFound(f"There is no request {clean(request_id)}; see: muster quota requests")
    row = session.client.quotas.decide(request_id, do, word)
    session.show(
        row,
        f"{row['state'].capitalize()}: {_asked(row)}, asked by {clean(row['asker'])}.",
        [row["id"]],
    )


def _asked(row: Json) -> str:
    whose = f"{row['scope']} {row['subject']}" if row["subject"] else "the organization"
    return clean(f"at most {amount(row['amount'], row['unit'])} ({row['resource']}) for {whose}")


def _rule(name: str, text: str) -> int | str | None:
    """As the API takes it."""
    if name == "default_pool":
        return "" if text == _ANY else text
    if text == _ANY:
        return None
    if name.endswith("_runtime"):
        return seconds(text)
    if not text.isdecimal():
        raise InvalidInput(f"--max-gpus {text}: write a whole number, or any")
    return int(text)


def _rule_text(name: str, value: Any) -> str:
    if value in (None, "", []):
        return "any"
    if name.endswith("_runtime"):
        return timespan(value)
    return ", ".join(value) if isinstance(value, list) else str(value)


def _limit_text(made: Json) -> str:
    return (
        "no limit of"
        if made["limit"] is None
        else f"at most {amount(made['limit'], made['unit'])} of"
    )


def _guaranteed_text(made: Json) -> str:
    return (
        f", {amount(made['guaranteed'], made['unit'])} guaranteed" if made.get("guaranteed") else ""
    )


def _amount(text: str) -> float | None:
    if text.lower() == "none":
        return None
    head = text.rstrip("iBb")
    unit = _UNITS.get(head[-1:].upper(), 1)
    try:
        return round(float(head[:-1]) * unit) if unit > 1 else float(head)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(
            f"{text} is no amount: write a number, for memory also 512G, or none"
        ) from error
