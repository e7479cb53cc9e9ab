"""`muster usage`, `muster cost` and `muster statement`."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from muster.options import Commands
from muster.output import Session, Table

COMMANDS = {
    "usage": ("app", 90, "Show GPU time, what was wasted, and by which jobs."),
    "cost": ("cost", 100, "Show what was used costs; budgets; prices (operators)."),
    "statement": ("statements", 110, "Show, download and issue monthly statements."),
}
app = Commands(help="Show GPU time, what was wasted, and by which jobs.")
cost = Commands(help="Show what was used costs; budgets; prices (operators).")
statements = Commands(help="Show, download and issue monthly statements.")
_PARTS = {
    "used": "useful",
    "underused": "allocated, waiting",
    "idle": "allocated, idle",
    "unmeasured": "allocated, not measured",
    "reserved": "reserved, not allocated",
    "unusable": "free, unusable",
    "free": "free",
}
Month = Annotated[str, Argument(metavar="MONTH", help="Such as 2027-01.")]
Resource = Annotated[str, Argument(metavar="RESOURCE", help="gpu.h100, gpu, cpu, memory, storage.")]


@app.command("usage")
def show_usage(
    session: Session,
    span: Annotated[str, Option("--range", metavar="RANGE", help="24h, 7d, 30d or 90d.")] = "7d",
    limit: Annotated[int, Option("--limit", "-l", min=0, max=20, metavar="N")] = 10,
) -> None:
    """Show where GPU time went, of all teams that you may see or of --team, and who wasted it."""
    query = {"range": span, **({"team": session.team} if session.team else {})}
    found = session.client.usage.waste(**query)
    parts = Table(
        ["Part", ">GPU-hours", ">Share", ">Worth"],
        [
            [
                _PARTS.get(row["name"], row["name"]),
                f"{row['hours']:,.1f}",
                f"{row['share']:.0%}",
                _money(row["cost"], found["currency"]),
            ]
            for row in found["buckets"]
            if row["gpu_ms"]
        ],
        "No GPU time in this time.",
    )
    jobs = Table(
        ["Job", "~Name", "~Owner", ">GPUs", ">Use", ">Wasted h", "~Advice"],
        [
            [
                f"#{row['number']}",
                row["name"],
                row["owner"],
                row["gpus"],
                "-" if row["use"] is None else f"{row['use']:.0%}",
                f"{row['wasted_hours']:,.1f}",
                row["advice"],
            ]
            for row in found["items"][:limit]
        ],
        "No measured job wasted GPU time.",
    )
    session.show(found, [parts, "", jobs], [row["number"] for row in found["items"]])


@cost.command("show")
def show_cost(
    session: Session,
    first: Annotated[str, Option(metavar="DAY", help="Default: the first of the month.")] = "",
    last: Annotated[str, Option(metavar="DAY", help="Default: today.")] = "",
) -> None:
    """Show hours and cost by team and resource, or of --team."""
    query = {"first": first, "last": last, "team": session.team or ""}
    found = session.client.billing.cost(**{k: v for k, v in query.items() if v})
    rows = [
        [
            row["team"],
            row["kind"],
            row["resource"],
            f"{float(row['hours']):,.2f} {row['unit']}",
            _money(row["cost"], found["currency"]),
        ]
        for row in found["items"]
    ]
    table = Table(["Team", "For", "Resource", ">Hours", ">Cost"], rows, "Nothing was used.")
    total = (
        f"Total {found['first']} to {found['last']}: {_money(found['total'], found['currency'])}"
    )
    session.show(found, [table, total], [found["total"]])


@cost.command("budgets")
def list_budgets(session: Session) -> None:
    """List the monthly budgets that you may see."""
    rows = session.client.billing.budgets()
    cells = [
        [
            row["team"] or "(organization)",
            row["spent"],
            row["amount"],
            f"{row['percent']}%",
            "yes" if row["stops"] else "",
        ]
        for row in rows
    ]
    table = Table(["Team", ">Spent", ">Budget", ">Share", "Stops jobs"], cells, "No budgets.")
    session.show({"items": rows, "next": None}, table, [row["team"] for row in rows])


@cost.command("set-budget")
def set_budget(
    session: Session,
    amount: Annotated[str, Argument(metavar="AMOUNT", help="A month; 0 removes it.")],
    stops: Annotated[bool, Option("--stop", help="Refuse new jobs once it is spent.")] = False,
) -> None:
    """Set the monthly budget of the organization, or of --team."""
    if amount == "0":
        session.client.billing.remove_budget(session.team)
        session.show({}, "Budget removed.")
        return
    row = session.client.billing.set_budget(amount, session.team, stops=stops)
    session.show(row, f"Budget of {row['amount']} a month; {row['spent']} are spent.")


@cost.command("prices")
def list_prices(session: Session) -> None:
    """List prices and the days from which they are valid (operators)."""
    rows = session.client.billing.prices()
    cells = [
        [
            row["resource"],
            _money(row["amount"], row["currency"]),
            row["unit"],
            row["starts_on"],
            row["ends_before"] or "",
        ]
        for row in rows
    ]
    table = Table(["Resource", ">Price", "Per", "From", "Until"], cells, "No prices yet.")
    session.show({"items": rows, "next": None}, table, [row["id"] for row in rows])


@cost.command("set-price")
def set_price(
    session: Session,
    resource: Resource,
    amount: Annotated[str, Argument(metavar="AMOUNT", help="Of an hour.")],
    currency: Annotated[str, Option(metavar="CODE")] = "USD",
    starts_on: Annotated[str, Option("--from", metavar="DAY", help="Default: today.")] = "",
) -> None:
    """Set the price of an hour of a resource from a day on (operators)."""
    more = {"starts_on": starts_on} if starts_on else {}
    row = session.client.billing.set_price(resource, amount, currency, **more)
    session.show(row, f"{row['resource']} costs {amount} {currency} from {row['starts_on']}.")


@statements.command("list")
def list_statements(session: Session) -> None:
    """List issued statements."""
    rows = session.client.billing.statements()
    cells = [
        [row["month"], _money(row["total"], row["currency"]), row["issued_at"][:10], row["number"]]
        for row in rows
    ]
    table = Table(["Month", ">Total", "Issued", "Number"], cells, "No statement was issued yet.")
    session.show({"items": rows, "next": None}, table, [row["month"] for row in rows])


@statements.command("show")
def show_statement(session: Session, month: Month) -> None:
    """Show the statement of a month, or its draft."""
    found = session.client.billing.statement(month)
    rows = [
        [
            line["team"] or "-",
            line["note"] or line["kind"],
            line["resource"],
            f"{float(line['hours']):,.3f} {line['unit']}",
            _price(line["price"], line["cost"]),
            f"{Decimal(line['cost']):,}",
        ]
        for line in found["lines"]
    ]
    table = Table(
        ["Team", "~For", "Resource", ">Hours", ">Price", ">Cost"], rows, "Nothing was used."
    )
    state = f"issued, SHA-256 {found['sha256']}" if found["is_issued"] else "draft"
    total = f"Total: {_money(found['totals']['total'], found['currency'])} ({state})"
    session.show(found, [table, total], [found["number"]])


@statements.command("download")
def download_statement(
    session: Session,
    month: Month,
    kind: Annotated[
        str, Option("--as", metavar="FORMAT", help="pdf, csv, focus, or lines (of single jobs).")
    ] = "pdf",
    output: Annotated[Path | None, Option("--output", "-o", metavar="FILE")] = None,
) -> None:
    """Download a statement as a file."""
    data = session.client.billing.statement_file(month, kind)
    path = output or Path(f"statement-{month}.{'pdf' if kind == 'pdf' else 'csv'}")
    path.write_bytes(data)
    session.show({"path": str(path), "bytes": len(data)}, f"Wrote {path}.", [str(path)])


@statements.command("issue")
def issue_statement(session: Session, month: Month) -> None:
    """Issue the statement of a month that is over (operators); it never changes after that."""
    row = session.client.billing.issue(month)
    session.show(row, f"Issued {row['number']}: {_money(row['total'], row['currency'])}.")


def _money(amount: Any, currency: str) -> str:
    return "-" if amount is None else f"{Decimal(amount):,} {currency}"


def _price(price: str | None, cost: str) -> str:
    """Return the exact price of an hour with at least the decimals of the cost: whole coins."""
    if price is None:
        return ""
    places = max(-int(Decimal(text).as_tuple().exponent) for text in (price, cost))
    return f"{Decimal(price):,.{places}f}"
