"""Statements as CSV, as FOCUS 1.2 (FinOps Open Cost and Usage Specification), and as PDF."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext, pgettext
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

from billing.amounts import (
    at_ms,
    digits,
    hours_of,
    money,
    next_month,
    resource_text,
    unit_of,
)
from billing.models import LedgerLine
from billing.services.prices import PriceList
from portal.core.csv_export import csv_lines
from portal.core.messages import Message
from portal.web.translation import translated

Document = dict[str, Any]
_CSV = (
    "month",
    "team",
    "category",
    "class",
    "kind",
    "resource",
    "hours",
    "unit",
    "price",
    "percent",
    "list",
    "discount",
    "cost",
    "note",
)
_NEGATIVE = re.compile(r"-[0-9]+(\.[0-9]+)?")
KINDS = {
    "job": Message("Jobs", context="kind"),
    "reservation": Message("Reserved, not used"),
    "storage": Message("Stored data", context="kind"),
    "lost": Message("Lost to failures and preemption"),
    "credit": Message("Credit", context="kind"),
}
_CID = (
    (range(0xAC00, 0xD7B0), "HYSMyeongJo-Medium"),
    (range(0x3040, 0x3100), "HeiseiKakuGo-W5"),
    (range(0x4E00, 0xA000), "STSong-Light"),
)


ROUNDING = Message(
    "Hours are rounded here. Costs are computed from milliseconds; the CSV has six decimals."
)


def line_texts(line: dict[str, Any], currency: str) -> dict[str, str]:
    """Return a line of a statement for people: about what, and its amounts without the currency."""
    kind: str = KINDS.get(line["kind"], line["kind"])
    discount, percent = Decimal(line["discount"]), Decimal(line["percent"])
    if line["class"] == "Correction":
        kind = Message(
            "Correction of {month}: {kind}",
            context="text, billing",
            month=line["month"][:7],
            kind=kind,
        )
    return {
        "about": kind,
        "note": line["note"] if line["category"] == "Credit" else "",
        "resource": resource_text(line["resource"]),
        "hours": f"{Decimal(line['hours']):,.3f} {line['unit']}" if line["unit"] else "",
        "price": digits(Decimal(line["price"]), currency) if line["price"] else "",
        "discount": f"{digits(discount, currency)} ({percent.normalize():f}%)" if discount else "",
        "cost": digits(Decimal(line["cost"]), currency),
    }


def period(document: Document) -> str:
    """Return the days of a statement: "2026-11-01 – 2026-11-30 (UTC)"."""
    last = date.fromisoformat(document["until"]) - timedelta(days=1)
    return f"{document['month']} – {last} (UTC)"


def as_csv(document: Document) -> bytes:
    """Return the lines of a statement, one row each."""
    rows = ([*(line[n] for n in _CSV), document["currency"]] for line in document["lines"])
    return _written([*_CSV, "currency"], rows)


def as_focus(document: Document) -> bytes:
    """Return the lines in the columns of FOCUS 1.2."""
    rows = [focus_row(document, line) for line in document["lines"]]
    columns = list(focus_row(document, _NOTHING))
    cells = ([row[name] for name in columns] for row in rows)
    return _written(columns, cells, is_marked=False)


def _written(columns: list[str], rows: Iterable[list[Any]], *, is_marked: bool = True) -> bytes:
    """Return a file. Documents hold amounts as text; negative ones would look like formulas."""
    cells = (
        [Decimal(cell) if _NEGATIVE.fullmatch(str(cell)) else cell for cell in row] for row in rows
    )
    return b"".join(csv_lines(columns, cells, is_marked=is_marked))


_NOTHING: dict[str, Any] = dict.fromkeys(_CSV, "") | {
    "month": "2026-01-01",
    "quantity": 0,
    "hours": "0",
    "list": "0",
    "cost": "0",
    "percent": "0",
    "team_name": "",
}


def focus_row(document: Document, line: dict[str, Any]) -> dict[str, Any]:
    """Return one line as a row of FOCUS 1.2; "" is null.

    Lines are sums of a team, so they have no resource. `BilledCost` is rounded as on the statement,
    while list and contracted cost are the products of the quantity and the unit prices, as FOCUS asks.
    """
    month = date.fromisoformat(line["month"])
    end = next_month(month)
    is_usage = line["category"] == "Usage"
    is_correction = line["class"] == "Correction"
    is_priced = is_usage and not is_correction
    is_storage = line["kind"] == "storage"
    is_reservation = line["kind"] == "reservation"
    price = Decimal(line["price"] or 0)
    net = price * (100 - Decimal(line["percent"])) / 100
    hours = Decimal(line["hours"])
    team = line["team"] or line.get("team_id") or ""
    unit = FOCUS_UNITS.get(line["unit"], line["unit"])
    return {
        "BilledCost": line["cost"],
        "BillingAccountId": document["organization"]["slug"],
        "BillingAccountName": document["organization"]["name"],
        "BillingAccountType": "Organization",
        "BillingCurrency": document["currency"],
        "BillingPeriodStart": f"{document['month']}T00:00:00Z",
        "BillingPeriodEnd": f"{document['until']}T00:00:00Z",
        "CapacityReservationId": f"{team}:{line['resource']}" if is_reservation else "",
        "CapacityReservationStatus": "Unused" if is_reservation else "",
        "ChargeCategory": line["category"],
        "ChargeClass": line["class"],
        "ChargeDescription": line["note"]
        or f"{KINDS.get(line['kind'], line['kind'].capitalize())}: {line['resource'] or team}",
        "ChargeFrequency": "Usage-Based" if is_usage else "One-Time",
        "ChargePeriodStart": f"{month}T00:00:00Z",
        "ChargePeriodEnd": f"{end}T00:00:00Z",
        **_NO_COMMITMENTS,
        "ConsumedQuantity": line["hours"] if is_usage else "",
        "ConsumedUnit": unit if is_usage else "",
        "ContractedCost": _plain(hours * net) if is_priced else line["cost"],
        "ContractedUnitPrice": _plain(net) if is_priced else "",
        "EffectiveCost": line["cost"],
        "InvoiceId": document["number"],
        "InvoiceIssuerName": "Muster",
        "ListCost": _plain(hours * price) if is_priced else line["cost"],
        "ListUnitPrice": _plain(price) if is_priced else "",
        "PricingCategory": "Standard" if is_usage else "",
        "PricingCurrency": document["currency"],
        "PricingQuantity": line["hours"] if is_usage else "",
        "PricingUnit": unit if is_usage else "",
        "ProviderName": "Muster",
        "PublisherName": "Muster",
        "RegionId": "",
        "RegionName": "",
        "ResourceId": "",
        "ResourceName": "",
        "ResourceType": "",
        "ServiceCategory": "Storage" if is_storage else "Compute",
        "ServiceName": "Storage" if is_storage else "Jobs",
        "ServiceSubcategory": "Other (Storage)" if is_storage else "Other (Compute)",
        "SkuId": line["resource"],
        "SkuMeter": unit if line["resource"] else "",
        "SkuPriceDetails": "",
        # A price of the list belongs to a currency, and to a first day only through its amount.
        "SkuPriceId": f"{line['resource']}@{_plain(price)} {document['currency']}"
        if is_priced
        else "",
        "SubAccountId": team,
        "SubAccountName": line["team_name"] or team,
        "SubAccountType": "Team" if team else "",
        "Tags": "{}",
    }


# Not needed by FOCUS 1.2 where nobody commits to spend, but by programs for FOCUS 1.0.
_NO_COMMITMENTS = {
    f"CommitmentDiscount{name}": "" for name in ("Category", "Id", "Name", "Status", "Type")
}
# Units as in FOCUS: a time is a plural with a capital, a new countable thing also.
FOCUS_UNITS = {"GPU-hours": "GPU-Hours", "core-hours": "Core-Hours", "GiB-hours": "GiB-Hours"}


def _plain(amount: Decimal) -> str:
    """Return a number without an exponent and without zeros at its end."""
    return f"{amount.normalize() + 0:f}"


def lines_csv(lines: Any, prices: PriceList, teams: dict[Any, str]) -> Iterator[bytes]:
    """Yield ledger lines with the exact cost of each: the jobs behind a statement."""
    columns = ["day", "team", "kind", "job", "resource", "pool", "start", "end", "units"]
    columns += ["hours", "unit", "price", "percent", "cost", "currency"]

    def row(line: LedgerLine) -> list[Any]:
        price = prices.price(line.resource, line.day)
        percent = prices.discount(line.team_id, line.day, line.kind)
        hours = hours_of(line.resource, line.quantity)
        cost = "" if price is None else f"{hours * price * (100 - percent) / 100:.6f}"
        span = [at_ms(ms).isoformat(timespec="milliseconds") for ms in (line.start_ms, line.end_ms)]
        return [
            *(line.day, teams.get(line.team_id, ""), line.kind, line.job_number or ""),
            *(line.resource, line.pool, *span, line.units, f"{hours:.6f}"),
            *(unit_of(line.resource), price if price is not None else "", percent, cost),
            prices.currency,
        ]

    return csv_lines(columns, (row(line) for line in lines))


def as_pdf(document: Document, sha256: str = "") -> bytes:
    """Return a statement as PDF. Without `sha256` it is marked as a draft."""
    org = document["organization"]
    contents = f"{org['name']} {org['address']}" + "".join(
        f"{line['team_name']}{line['note']}" for line in document["lines"]
    )
    font, bold = _fonts(contents + pgettext("statement", "Statement"))
    text = ParagraphStyle("text", fontName=font, fontSize=9, leading=12, wordWrap="CJK")
    small = ParagraphStyle("small", parent=text, fontSize=7, textColor=colors.grey)
    head = ParagraphStyle("head", parent=text, fontName=bold, fontSize=16, leading=22)
    right = ParagraphStyle("right", parent=text, alignment=2)
    title = (
        pgettext("statement", "Statement")
        if document["mode"] == "chargeback"
        else pgettext("statement", "Usage report")
    )
    story: list[Any] = [
        Paragraph(_escaped(title), head),
        Paragraph(_escaped(f"{document['number']} · {period(document)}"), text),
        Spacer(1, 4 * mm),
        Paragraph(_escaped(org["name"]), text),
        *(Paragraph(_escaped(line), text) for line in org["address"].splitlines()),
        Spacer(1, 6 * mm),
    ]
    rows: list[list[Any]] = [
        [
            Paragraph(_escaped(name), text if n < 3 else right)
            for n, name in enumerate(
                (
                    pgettext("statement", "Team"),
                    pgettext("column, what a charge is for", "For"),
                    pgettext("statement", "Resource"),
                    pgettext("statement", "Hours"),
                    pgettext("statement", "Price"),
                    pgettext("statement", "Discount"),
                    pgettext("statement", "Cost"),
                )
            )
        ]
    ]
    for line in document["lines"]:
        shown = line_texts(line, document["currency"])
        about = " · ".join(filter(None, (translated(shown["about"]), shown["note"])))
        names = line["team_name"] or "–", about, translated(shown["resource"])
        amounts = (shown[name] for name in ("hours", "price", "discount", "cost"))
        rows.append(
            [
                *(Paragraph(_escaped(cell), text) for cell in names),
                *(Paragraph(_escaped(cell), right) for cell in amounts),
            ]
        )
    totals = document["totals"]
    for name, key in (
        (pgettext("statement", "Usage"), "usage"),
        (pgettext("statement", "Corrections"), "corrections"),
        (pgettext("statement", "Credits"), "credits"),
        (pgettext("statement", "Total"), "total"),
    ):
        if key in ("usage", "total") or Decimal(totals[key]):
            amount = money(Decimal(totals[key]), document["currency"])
            rows.append(
                ["", "", Paragraph(_escaped(name), text), "", "", "", Paragraph(amount, right)]
            )
    widths = [28 * mm, 36 * mm, 22 * mm, 36 * mm, 16 * mm, 24 * mm, 24 * mm]
    table = Table(rows, colWidths=widths, repeatRows=1)
    table.setStyle(
        TableStyle(
            [
                ("LINEBELOW", (0, 0), (-1, 0), 0.6, colors.black),
                ("LINEBELOW", (0, 1), (-1, -1), 0.2, colors.lightgrey),
                ("LINEABOVE", (0, -1), (-1, -1), 0.6, colors.black),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
                ("LEFTPADDING", (0, 0), (-1, -1), 2),
                ("RIGHTPADDING", (0, 0), (-1, -1), 2),
            ]
        )
    )
    story += [table, Spacer(1, 6 * mm)]
    ending = (
        pgettext("statement", "Issued {at}. SHA-256 {sha}").format(
            at=document["issued_at"][:19], sha=sha256
        )
        if sha256
        else gettext("Draft: not issued, and may change.")
    )
    story += [Paragraph(_escaped(said), small) for said in (translated(ROUNDING), ending)]
    out = io.BytesIO()
    SimpleDocTemplate(
        out,
        pagesize=A4,
        title=f"{title} {document['number']}",
        author=org["name"],
        leftMargin=12 * mm,
        rightMargin=12 * mm,
        topMargin=16 * mm,
        bottomMargin=16 * mm,
        invariant=1,  # the same bytes for the same statement
    ).build(story)
    return out.getvalue()


def _fonts(text: str) -> tuple[str, str]:
    """Return fonts that can show these text: PDF readers have those of Korean and Japanese."""
    for letters, name in _CID:
        if any(ord(letter) in letters for letter in text):
            pdfmetrics.registerFont(UnicodeCIDFont(name))
            return name, name
    return "Helvetica", "Helvetica-Bold"


def _escaped(text: object) -> str:
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
