"""`muster job …`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from muster.client import Json, MusterError, exit_code
from muster.output import Context, ago, ends, say, show, size, span, state, table

app = typer.Typer()
Text = Optional[str]  # noqa: UP045  Typer reads it
Name = Annotated[str, typer.Argument(help="A number, such as 12, or an id.")]
Index = Annotated[int, typer.Option("--index", help="Task of an array.")]
Attempt = Annotated[Optional[int], typer.Option("--attempt", help="Which try; the latest if left out.")]  # noqa: UP045


@app.command()
def submit(context: typer.Context, file: Annotated[Path, typer.Argument(help="YAML, or a script with #SBATCH lines; - for standard input.")],
           dry_run: Annotated[bool, typer.Option("--dry-run", help="Rehearse only.")] = False,
           wait: Annotated[bool, typer.Option("--wait", help="Stay with it to its end.")] = False) -> int:
    """Submit a job from a file."""
    obj: Context = context.obj
    client, text = obj.client, _read(file)
    if dry_run:
        return tell_rehearsal(obj, client.jobs.rehearse(yaml=text))
    job = client.jobs.submit(yaml=text)
    if wait:
        from muster.commands.run import attend

        return attend(obj, client, job)
    show(obj, job, f"#{job['number']} {job['name']} is submitted: {client.settings.url}{job['page']}", [job["number"]])
    return 0


@app.command("list")
def list_jobs(context: typer.Context, state_: Annotated[Text, typer.Option("--state", "-s", help="States, separated by commas.")] = None,
              mine: Annotated[bool, typer.Option("--mine")] = False, q: Annotated[Text, typer.Option("--search", help="The beginning of a name.")] = None,
              label: Annotated[Text, typer.Option(help="key:value")] = None, limit: Annotated[int, typer.Option("--limit", "-l", min=1)] = 50) -> None:
    """Jobs, newest first."""
    obj: Context = context.obj
    filters = {"state": state_ or "", "owner": "me" if mine else "", "q": q or "", "label": label or "", "team": obj.team or ""}
    found = list(obj.client.jobs.list(limit, **filters))
    human: Any = table(["Job", "Name", "State", "Why", "Who", ">Ran", ">Submitted"], (
        [f"#{j['number']}", j["name"], state(j["state"]), _why(j), j["owner"]["name"], span(j["started_at"], j["finished_at"]), ago(j["created_at"])]
        for j in found)) if found else "No jobs. Run one: muster run -- echo hello"
    show(obj, {"items": found}, human, [j["number"] for j in found])


@app.command()
def info(context: typer.Context, job: Name) -> None:
    """Everything about a job."""
    obj: Context = context.obj
    row = obj.client.jobs.get(job)
    asked = row["resources"]
    gpus = f", {asked['gpus']} {(asked['gpu_type'] or 'GPU').upper()}" if asked["gpus"] else ""
    facts = [("State", row["state_text"]), ("Why", _why(row)), ("Help", ((row["pending"] or {}).get("change") or {}).get("text", "") or (row["reason"] or {}).get("advice", "")),
             ("Who", f"{row['owner']['email']}, team {row['team']}"), ("Holds", f"{asked['cpus']:g} CPU" + (f", {size(asked['memory'])}" if asked["memory"] else "") + gpus),
             ("Where", f"{row['cluster']} {row['node']}"), ("Submitted", ago(row["created_at"])), ("Ran", span(row["started_at"], row["finished_at"])),
             ("Exit code", "" if row["exit_code"] is None else str(row["exit_code"])), ("After", " ".join(f"#{n}" for n in row["after"])),
             ("Tries", str(row["attempt_count"]) if row["attempt_count"] > 1 else ""), ("Page", obj.client.settings.url + row["page"])]
    show(obj, row, table([f"#{row['number']}", row["name"]], ([k, v] for k, v in facts if v)), [row["number"]])


@app.command()
def logs(context: typer.Context, job: Name, follow: Annotated[bool, typer.Option("--follow", "-f", help="To its end.")] = False,
         index: Index = 0, attempt: Attempt = None, since: Annotated[int, typer.Option("--since-offset", min=0, help="Bytes to pass over.")] = 0) -> None:
    """The log, byte for byte."""
    obj: Context = context.obj
    jobs, out = obj.client.jobs, sys.stdout.buffer
    if obj.json:
        certificate = obj.client.get(f"jobs/{job}/logs/certificate", index=index, attempt=attempt)
        show(obj, certificate | obj.client.get(f"jobs/{job}/logs", index=index, attempt=attempt, after=since, format="json", limit=8 << 20))
        return
    if follow:
        for data in jobs.follow(job, since, index=index, attempt=attempt):
            out.write(data)
            out.flush()
        told = obj.client.get(f"jobs/{job}/logs/certificate", index=index, attempt=attempt)["certificate"]
        if told and not obj.quiet:
            say(told["text"])
        return
    while True:
        data, since, _ = jobs.log(job, since, 8 << 20, index=index, attempt=attempt)
        if not data:
            return
        out.write(data)


@app.command()
def cancel(context: typer.Context, jobs: Annotated[list[str], typer.Argument()], why: Annotated[str, typer.Option()] = "") -> None:
    """Stop jobs."""
    obj: Context = context.obj
    rows = [obj.client.jobs.act(job, "cancel", {"why": why}) for job in jobs]
    show(obj, rows[0] if len(rows) == 1 else {"items": rows}, "\n".join(_now(r) for r in rows), [r["number"] for r in rows])


@app.command()
def hold(context: typer.Context, job: Name) -> None:
    """Keep it from starting until released."""
    _act(context.obj, job, "hold")


@app.command()
def release(context: typer.Context, job: Name) -> None:
    """Let a held job take its turn."""
    _act(context.obj, job, "release")


@app.command()
def rerun(context: typer.Context, job: Name, wait: Annotated[bool, typer.Option("--wait")] = False) -> int:
    """Submit the same again."""
    obj: Context = context.obj
    row = obj.client.jobs.act(job, "rerun")
    if wait:
        from muster.commands.run import attend

        return attend(obj, obj.client, row)
    show(obj, row, f"#{row['number']} {row['name']} is submitted, as #{job.lstrip('#')} was.", [row["number"]])
    return 0


@app.command()
def wait(context: typer.Context, jobs: Annotated[list[str], typer.Argument()]) -> int:
    """Until they have ended; the exit code is that of the first that failed."""
    obj: Context = context.obj
    rows = [obj.client.jobs.wait(job) for job in jobs]
    show(obj, rows[0] if len(rows) == 1 else {"items": rows}, "\n".join(ends(r) for r in rows), [r["number"] for r in rows])
    return next((code for code in map(exit_code, rows) if code), 0)


@app.command(context_settings={"ignore_unknown_options": True})
def exec(context: typer.Context, job: Name, command: Annotated[list[str], typer.Argument(help="After --.")],
         timeout: Annotated[float, typer.Option(help="Seconds.")] = 30, index: Index = 0) -> int:
    """Run a command beside a running job, in its directory and environment."""
    obj: Context = context.obj
    told = obj.client.send("POST", f"jobs/{job}/exec", {"argv": command, "timeout": timeout, "index": index})
    if obj.json:
        show(obj, told)
    else:
        sys.stdout.write(told["output"])
    return int(told["exit_code"])


@app.command()
def pending(context: typer.Context, job: Name) -> None:
    """Why it waits, who holds what it needs, and what would start it now."""
    obj: Context = context.obj
    told = obj.client.get(f"jobs/{job}/pending")
    answer = told["pending"]
    if answer is None:
        show(obj, told, "It does not wait.")
        return
    lines = [answer["text"], *(f"  {h['text']}" for h in answer["holders"]), (answer["change"] or {}).get("text", "")]
    show(obj, told, "\n".join(line for line in lines if line))


@app.command()
def events(context: typer.Context, job: Name) -> None:
    """What happened to it."""
    obj: Context = context.obj
    found = list(obj.client.get(f"jobs/{job}/events")["items"])
    show(obj, {"items": found}, table(["When", "What", "Who says so"], ([ago(e["at"]), e["kind"], e["actor"]] for e in found)))


@app.command()
def metrics(context: typer.Context, job: Name) -> None:
    """The last value of each curve."""
    obj: Context = context.obj
    found = obj.client.get(f"jobs/{job}/metrics")
    rows = [[s["name"], " ".join(f"{k}={v}" for k, v in s["labels"].items()), next((v for v in reversed(s["values"]) if v is not None), "")]
            for part in ("training", "system") for s in found[part]]
    show(obj, found, table(["Curve", "", ">Last"], rows) if rows else "No curves. From Python: muster.log(step=1, loss=0.42)")


def tell_rehearsal(context: Context, told: Json) -> int:
    """The answers of a rehearsal, and the text that would be sent."""
    lines = [f"{'ok  ' if c['ok'] else 'no  '} {c['name']}: {c['text']}" for c in told["checks"]]
    show(context, told, "\n".join([*lines, "", told["launch"]]))
    return 0 if told["ok"] else 1


def _act(context: Context, job: str, verb: str) -> None:
    row = context.client.jobs.act(job, verb)
    show(context, row, _now(row), [row["number"]])


def _now(row: Json) -> str:
    return f"#{row['number']} {row['name']}: {row['state']}"


def _why(row: Json) -> str:
    if row["pending"]:
        return str(row["pending"]["text"])
    reason = row["reason"] or {}
    return str(reason.get("evidence") or reason.get("headline", "")) if row["state"] == "failed" else ""


def _read(file: Path) -> str:
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise MusterError(f"{file} cannot be read: {error}", code="unreadable") from error
