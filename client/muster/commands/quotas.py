"""Commands for quotas, quota requests and a team's job rules."""

from __future__ import annotations

import re
from typing import Annotated, Any

from typer import Argument, Option

from muster.errors import InvalidInput, Json, NotFound
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago, amount, clean, seconds, timespan

COMMANDS = {"quota": ("quotas", 210, "Show usage and limits, request more, set job rules.")}
quotas = Commands(help="Show usage and quotas, set limits, request more, set job rules.")
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]i?B?)?", re.IGNORECASE)
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_ANY = "any"
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_RULES = {
    "max_runtime": "Maximum run time",
    "default_runtime": "Default run time",
    "max_gpus": "Maximum GPUs per task",
    "images": "Allowed images",
    "pools": "Allowed pools",
    "default_pool": "Default pool",
}
RequestId = Annotated[str, Argument(metavar="ID", help="Request id from `muster quota requests`.")]
Word = Annotated[str, Option("--word", "-m", metavar="TEXT", help="Message to the requester.")]
_NOTHING = "Nothing is in use and no limit is set. Set one: muster quota set gpu 8"


@quotas.command("list")
def list_quotas(session: Session) -> None:
    """List usage and limits."""
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
    table = Table(["Scope", "Name", "Resource", ">In use", ">Limit"], rows, _NOTHING)
    session.show(
        found, table, [f"{q['scope']}:{q['subject']}:{q['resource']}" for q in found["items"]]
    )


@quotas.command("show")
def show_quotas(
    session: Session,
    user: Annotated[str, Option("--user", metavar="EMAIL", help="Apply to a person.")] = "",
) -> None:
    """Show usage, limits and guarantees.

    Covers the organization and its teams. With --team or --user, show only that team or person.
    """
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
    table = Table(["Name", "Resource", ">In use", ">Guaranteed", ">Limit", ">Left"], rows, _NOTHING)
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
            help="cpu, memory, gpu, gpu.<type>, jobs, gpu-hours (per month) or storage (logs).",
        ),
    ],
    limit: Annotated[
        str, Argument(metavar="[LIMIT]", help="A number, a size such as 512G, or none.")
    ] = "",
    user: Annotated[str, Option("--user", metavar="EMAIL", help="Apply to a person.")] = "",
    guaranteed: Annotated[
        str,
        Option("--guaranteed", metavar="AMOUNT", help="Amount reserved for them; none to clear."),
    ] = "",
) -> None:
    """Set or clear a limit.

    Applies to the organization, or to --team or --user.
    """
    if user and session.team:
        raise InvalidInput("Give --team or --user, not both.")
    if not limit and not guaranteed:
        raise InvalidInput("Give a limit, or --guaranteed.")
    body = {
        name: _amount(resource, text)
        for name, text in (("limit", limit), ("guaranteed", guaranteed))
        if text
    }
    made = session.client.quotas.change(resource, team=session.team or "", user=user, **body)
    session.show(
        made,
        f"{made['scope']} {made['subject']}: {_limit_text(made)} "
        f"{resource}{_guaranteed_text(made)}.",
        [made["resource"]],
    )


@quotas.command("storage")
def show_storage(
    session: Session,
    user: Annotated[
        str, Option("--user", metavar="EMAIL", help="Apply to a person; me for yourself.")
    ] = "",
    limit: Annotated[
        int, Option("--limit", "-l", min=1, metavar="N", help="Maximum number of jobs.")
    ] = 20,
) -> None:
    """List the jobs with the largest logs.

    Covers the organization, or --team or --user.
    """
    found = session.client.get("storage", team=session.team or "", owner=user, limit=limit)
    rows = (
        [
            f"#{row['number']}",
            row["name"],
            amount(row["bytes"], "bytes"),
            row["owner"]["email"],
            row["team"],
            ago(row["finished_at"]),
        ]
        for row in found["items"]
    )
    table = Table(
        ["Job", "~Name", ">Logs", "Owner", "Team", "Ended"],
        rows,
        "No logs are stored. A log is counted within a minute after its job ends.",
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
        str, Argument(metavar="LIMIT", help="Requested limit: a number, or a size such as 512G.")
    ],
    user: Annotated[
        str, Option("--user", metavar="EMAIL", help="For a person; - for yourself.")
    ] = "",
    why: Annotated[str, Option("--why", "-m", metavar="TEXT", help="Reason for the request.")] = "",
    job: Annotated[
        str, Option("--job", metavar="JOB", help="Job that is pending because of the limit.")
    ] = "",
) -> None:
    """Request a higher limit.

    Applies to the organization, or to --team or --user.
    """
    if user and session.team:
        raise InvalidInput("Give --team or --user, not both.")
    wanted, number = _amount(resource, limit), job.removeprefix("#")
    if wanted is None:
        raise InvalidInput("Give the requested limit: a number, or a size such as 512G.")
    if number and not number.isdecimal():
        raise InvalidInput(f"{job} is not a job number. `muster job list` shows the numbers.")
    whom = session.client.me()["email"] if user == "-" else user
    made = session.client.quotas.request(
        resource,
        wanted,
        team=session.team or "",
        user=whom,
        why=why,
        job=int(number) if number else None,
    )
    text = f"Requested {_request_text(made)}. Check the decision with: muster quota requests"
    session.show(made, text, [made["id"]])


@quotas.command("requests")
def list_requests(
    session: Session,
    is_all: Annotated[bool, Option("--all", "-a", help="Include decided requests.")] = False,
) -> None:
    """List open requests.

    Shows your own, and everyone's if you may set limits.
    """
    found = session.client.get("quotas/requests")
    shown = [r for r in found["items"] if is_all or r["state"] == "open"]
    rows = (
        [
            r["id"],
            r["asker"],
            _request_text(r),
            r["state"],
            ago(r["decided_at"] or r["created_at"]),
            r["word"] or r["why"],
        ]
        for r in shown
    )
    empty = (
        "No requests. Create one: muster quota request gpu 8"
        if is_all
        else "No open requests. To see decided ones: muster quota requests --all"
    )
    session.show(
        found | {"items": shown},
        Table(["Id", "Requester", "Request", "State", "Time", "~Message"], rows, empty),
        [r["id"] for r in shown],
    )


@quotas.command("approve")
def approve(session: Session, request_id: RequestId, word: Word = "") -> None:
    """Approve a request. The limit is raised at once."""
    _decide(session, request_id, "approve", word)


@quotas.command("decline")
def decline(session: Session, request_id: RequestId, word: Word = "") -> None:
    """Decline a request; give the reason with -m."""
    _decide(session, request_id, "decline", word)


@quotas.command("withdraw")
def withdraw(session: Session, request_id: RequestId) -> None:
    """Withdraw your own request."""
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
            help="Maximum run time of a job, such as 2d or 1d12h.",
        ),
    ] = "",
    default_runtime: Annotated[
        str, Option("--default-runtime", metavar="TIME", help="Run time of a job that sets none.")
    ] = "",
    max_gpus: Annotated[
        str, Option("--max-gpus", metavar="N", help="Maximum GPUs of one task, over all nodes.")
    ] = "",
    image: Annotated[
        list[str] | None,
        Option(
            "--image",
            metavar="GLOB",
            help="Allowed image; none allows jobs without an image. Repeatable.",
        ),
    ] = None,
    pool: Annotated[
        list[str] | None,
        Option("--pool", metavar="NAME", help="Allowed pool. Repeatable."),
    ] = None,
    default_pool: Annotated[
        str, Option("--default-pool", metavar="NAME", help="Pool of a job that sets none.")
    ] = "",
) -> None:
    """Show or set the rules for a team's jobs.

    Sets those given as options; `any` clears a rule.
    """
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
        ["Rule", "~Value"],
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
        raise NotFound(f"Request {clean(request_id)} does not exist. See: muster quota requests")
    row = session.client.quotas.decide(request_id, do, word)
    session.show(
        row,
        f"{row['state'].capitalize()}: {_request_text(row)}, requested by {clean(row['asker'])}.",
        [row["id"]],
    )


def _request_text(row: Json) -> str:
    whose = f"{row['scope']} {row['subject']}" if row["subject"] else "the organization"
    return clean(f"a limit of {amount(row['amount'], row['unit'])} ({row['resource']}) for {whose}")


def _rule(name: str, text: str) -> int | str | None:
    """Convert an option to the value that the API expects."""
    if name == "default_pool":
        return "" if text == _ANY else text
    if text == _ANY:
        return None
    if name.endswith("_runtime"):
        return seconds(text)
    if not text.isdecimal():
        raise InvalidInput(f"--max-gpus {text}: must be a whole number or any.")
    return int(text)


def _rule_text(name: str, value: Any) -> str:
    if value in (None, "", []):
        return "any"
    if name.endswith("_runtime"):
        return timespan(value)
    return ", ".join(value) if isinstance(value, list) else str(value)


def _limit_text(made: Json) -> str:
    return (
        "no limit for"
        if made["limit"] is None
        else f"limit of {amount(made['limit'], made['unit'])} for"
    )


def _guaranteed_text(made: Json) -> str:
    return (
        f", {amount(made['guaranteed'], made['unit'])} guaranteed" if made.get("guaranteed") else ""
    )


def _amount(resource: str, text: str) -> float | None:
    """Parse a number, a size of memory and storage, or "none"."""
    if text.lower() == "none":
        return None
    is_size = resource in ("memory", "storage")
    number = _NUMBER.fullmatch(text.strip())
    usual = "a size such as 64Gi" if is_size else "a number such as 8"
    if number is None:
        raise InvalidInput(f"Invalid amount {text}. Use {usual}, or none.")
    value, unit = float(number[1]), number[2]
    if unit and not is_size:
        raise InvalidInput(f"{resource} has no unit {unit}: use {usual}, or none.")
    if is_size and not unit and 0 < value < 1 << 20:
        raise InvalidInput(f"{text} would be {text} bytes of {resource}. Use {usual}, or none.")
    return round(value * _UNITS[unit[0].upper()]) if unit else value
