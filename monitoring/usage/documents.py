"""Statements as CSV, as FOCUS 1.2 (FinOps Open Cost and Usage Specification), and as PDF."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

from monitoring.usage.amounts import at_ms, hours_of, next_month, unit_of
from monitoring.usage.models import LedgerLine
from monitoring.usage.services.prices import PriceList
from portal.core.csv_export import csv_lines

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
KINDS = {"job": "Jobs", "reservation": "Reserved, not used", "storage": "Stored data"}
_CID = (
    (range(0xAC00, 0xD7B0), "HYSMyeongJo-Medium"),
    (range(0x3040, 0x3100), "HeiseiKakuGo-W5"),
    (range(0x4E00, 0xA000), "STSong-Light"),
)


def as_csv(document: Document) -> bytes:
    """Return the lines of a statement, one row each."""
    rows = ([*(line[n] for n in _CSV), document["currency"]] for line in document["lines"])
    return b"".join(csv_lines([*_CSV, "currency"], rows))


def as_focus(document: Document) -> bytes:
    """Return the lines in the columns of FOCUS 1.2."""
    rows = [focus_row(document, line) for line in document["lines"]]
    columns = list(focus_row(document, _NOTHING))
    return b"".join(csv_lines(columns, ([row[name] for name in columns] for row in rows)))


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
        percent = prices.discount(line.team_id, line.day)
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
    words = f"{org['name']} {org['address']}" + "".join(
        f"{line['team_name']}{line['note']}" for line in document["lines"]
    )
    font, bold = _fonts(words + gettext("Statement"))
    text = ParagraphStyle("text", fontName=font, fontSize=9, leading=12, wordWrap="CJK")
    small = ParagraphStyle("small", parent=text, fontSize=7, textColor=colors.grey)
    head = ParagraphStyle("head", parent=text, fontName=bold, fontSize=16, leading=22)
    right = ParagraphStyle("right", parent=text, alignment=2)
    title = gettext("Statement") if document["mode"] == "chargeback" else gettext("Usage report")
    story: list[Any] = [
        Paragraph(_escaped(title), head),
        Paragraph(_escaped(f"{document['number']} · {document['month'][:7]}"), text),
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
                    gettext("Team"),
                    gettext("For"),
                    gettext("Resource"),
                    gettext("Hours"),
                    gettext("Price"),
                    gettext("Discount"),
                    gettext("Cost"),
                )
            )
        ]
    ]
    for line in document["lines"]:
        about = line["note"] or gettext(KINDS.get(line["kind"], line["kind"]))
        is_credit = line["category"] == "Credit"
        rows.append(
            [
                Paragraph(_escaped(line["team_name"] or "–"), text),
                Paragraph(
                    _escaped(gettext("Credit") if is_credit and not line["note"] else about), text
                ),
                Paragraph(_escaped(line["resource"]), text),
                Paragraph("" if is_credit else f"{Decimal(line['hours']):,.3f}", right),
                Paragraph(line["price"] or "–", right),
                Paragraph(f"{line['percent']}%" if Decimal(line["percent"]) else "", right),
                Paragraph(f"{Decimal(line['cost']):,}", right),
            ]
        )
    totals = document["totals"]
    for name, key in (
        (gettext("Usage"), "usage"),
        (gettext("Corrections"), "corrections"),
        (gettext("Credits"), "credits"),
        (gettext("Total"), "total"),
    ):
        if key in ("usage", "total") or Decimal(totals[key]):
            amount = f"{Decimal(totals[key]):,} {document['currency']}"
            rows.append(
                ["", "", Paragraph(_escaped(name), text), "", "", "", Paragraph(amount, right)]
            )
    widths = [30 * mm, 42 * mm, 28 * mm, 24 * mm, 18 * mm, 16 * mm, 28 * mm]
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
        gettext("Issued {at}. SHA-256 {sha}").format(at=document["issued_at"][:19], sha=sha256)
        if sha256
        else gettext("Draft: not issued, and may change.")
    )
    story.append(Paragraph(_escaped(ending), small))
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


def _fonts(words: str) -> tuple[str, str]:
    """Return fonts that can show these words: PDF readers have those of Korean and Japanese."""
    for letters, name in _CID:
        if any(ord(letter) in letters for letter in words):
            pdfmetrics.registerFont(UnicodeCIDFont(name))
            return name, name
    return "Helvetica", "Helvetica-Bold"


def _escaped(text: object) -> str:
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
