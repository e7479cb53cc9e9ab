"""REST: cost, budgets, statements and prices."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers as s
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from billing import documents
from billing.amounts import month_of, next_month, parsed_day
from billing.models import BillingAccount, LedgerLine, Statement
from billing.selectors import spending as spent
from billing.services import budgets, prices, statements
from portal.core import clock
from portal.core.errors import InvalidInput
from portal.lists import in_this_context
from portal.web.transfers import attachment, streamed_attachment
from workspaces.access.permissions import Permission as P
from workspaces.api.base import OrgView, PortalView, idempotent
from workspaces.api.views import items, read
from workspaces.models import Team

LONGEST = 400  # days
_DAYS = [
    OpenApiParameter("first", OpenApiTypes.DATE, description="Default: first day of the month."),
    OpenApiParameter("last", OpenApiTypes.DATE, description="Default: today."),
    OpenApiParameter("team", str),
]


def days_of(query: Any) -> tuple[date, date]:
    """Return `first` and `last` of a query. Raises InvalidInput."""
    today = clock.now().date()
    first = day_of(query.get("first"), "first") or month_of(today)
    last = day_of(query.get("last"), "last") or today
    if not first <= last <= first + timedelta(days=LONGEST):
        raise InvalidInput.at("last", "must be from the first day to 400 days later")
    return first, last


def day_of(text: str | None, field: str) -> date | None:
    try:
        return parsed_day(text) if text else None
    except ValueError as error:
        raise InvalidInput.at(field, "must be a date such as 2027-01-31") from error


def month_in(text: str) -> date:
    """Return the first day of a month such as 2027-01. Raises InvalidInput."""
    try:
        return parsed_day(f"{text}-01")
    except ValueError as error:
        raise InvalidInput.at("month", "must be a month such as 2027-01") from error


class CostView(OrgView):
    permissions = {"GET": None}

    @extend_schema(operation_id="cost_list", responses=OpenApiTypes.OBJECT, parameters=_DAYS)
    def get(self, request: Request) -> Response:
        """Return hours and cost of the teams that you may see, by team and resource class."""
        first, last = days_of(request.query_params)
        slug = request.query_params.get("team")
        team = self.team(slug).id if slug else None
        return Response(spent.spending(self.actor, self.org, first, last, team).as_dict())


class BudgetSerializer(s.Serializer[Any]):
    team = s.CharField(required=False, allow_null=True, help_text="Without: the organization's.")
    amount = s.DecimalField(max_digits=18, decimal_places=2)
    stops = s.BooleanField(required=False, help_text="Refuse new jobs once it is spent.")


class BudgetsView(OrgView):
    permissions = {"GET": None, "PUT": P.QUOTAS_WRITE, "DELETE": P.QUOTAS_WRITE}

    @extend_schema(operation_id="budgets_list", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """List the monthly budgets that you may see."""
        rows = spent.budget_rows(self.actor)
        texts = ("amount", "spent")
        return items([row | {name: f"{row[name]:f}" for name in texts} for row in rows])

    @extend_schema(
        operation_id="budgets_set", request=BudgetSerializer, responses=OpenApiTypes.OBJECT
    )
    def put(self, request: Request) -> Response:
        """Set the monthly budget of the organization or a team."""
        body = read(BudgetSerializer, request)
        slug = body.pop("team", None)
        team = self.team(slug) if slug else None
        row = budgets.set_budget(actor=self.actor, org=self.org, team=team, **body)
        return Response(
            {
                "team": slug,
                "amount": f"{row.amount:f}",
                "stops": row.stops,
                "spent": f"{row.spent:f}",
            }
        )

    @extend_schema(
        operation_id="budgets_remove",
        parameters=[OpenApiParameter("team", str)],
        responses={204: None},
    )
    def delete(self, request: Request) -> Response:
        """Remove a budget."""
        slug = request.query_params.get("team")
        team = self.team(slug) if slug else None
        budgets.remove_budget(actor=self.actor, org=self.org, team=team)
        return Response(status=status.HTTP_204_NO_CONTENT)


class IssueSerializer(s.Serializer[Any]):
    month = s.RegexField(r"^\d{4}-\d{2}$", help_text="A month that is over, such as 2027-01.")


class StatementsView(OrgView):
    permissions = {"GET": P.BILLING_READ, "POST": P.PLATFORM_ADMIN}

    @extend_schema(operation_id="statements_list", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """List issued statements, the latest first."""
        return items([statement_row(row) for row in Statement.objects.order_by("-month")])

    @extend_schema(request=IssueSerializer, responses={201: OpenApiTypes.OBJECT})
    @idempotent
    def post(self, request: Request) -> Response:
        """Issue the statement of a month; it never changes after that. For operators."""
        month = month_in(read(IssueSerializer, request)["month"])
        row = statements.issue_statement(actor=self.actor, org=self.org, month=month)
        return Response(statement_row(row), status=status.HTTP_201_CREATED)


class StatementView(OrgView):
    permissions = {"GET": P.BILLING_READ}

    @extend_schema(
        responses=OpenApiTypes.OBJECT,
        parameters=[
            OpenApiParameter(
                "as", str, description="csv, focus (FOCUS 1.2), pdf, or lines (of single jobs)."
            )
        ],
    )
    def get(self, request: Request, month: str) -> Any:
        """Return a statement, or a draft if it is not issued, as JSON or as a file."""
        document, row = statement_of(self.org, month_in(month))
        wanted = request.query_params.get("as", "")
        if wanted:
            return as_file(self.org, document, row, wanted)
        sealed = {"sha256": row.sha256, "is_intact": statements.is_intact(row)} if row else {}
        return Response(document | {"is_issued": row is not None} | sealed)


def statement_of(org: Any, month: date) -> tuple[dict[str, Any], Statement | None]:
    """Return the issued document of a month, or a draft."""
    row = Statement.objects.filter(org=org, month=month).first()
    return (row.document if row else statements.draft(org, month)), row


def as_file(org: Any, document: dict[str, Any], row: Statement | None, wanted: str) -> Any:
    """Return a statement as a file. Raises InvalidInput for an unknown format."""
    month, name = date.fromisoformat(document["month"]), document["number"]
    if wanted == "pdf":
        body: Any = documents.as_pdf(document, row.sha256 if row else "")
        return attachment(body, "application/pdf", f"{name}.pdf")
    if wanted == "csv":
        return attachment(documents.as_csv(document), "text/csv; charset=utf-8", f"{name}.csv")
    if wanted == "focus":
        return attachment(
            documents.as_focus(document), "text/csv; charset=utf-8", f"{name}-focus.csv"
        )
    if wanted == "lines":
        lines = LedgerLine.objects.filter(org=org, day__gte=month, day__lt=next_month(month))
        found = documents.lines_csv(
            lines.order_by("day", "job_number", "start_ms", "resource").iterator(),
            prices.PriceList(document["currency"], org.id),
            dict(Team.objects.values_list("id", "slug")),
        )
        pieces = in_this_context(found)
        return streamed_attachment(pieces, "text/csv; charset=utf-8", f"{name}-lines.csv")
    raise InvalidInput.at("as", "must be csv, focus, pdf or lines")


def statement_row(row: Statement) -> dict[str, Any]:
    return {
        "number": row.number,
        "month": f"{row.month:%Y-%m}",
        "currency": row.currency,
        "total": str(row.total),
        "issued_at": row.issued_at,
        "issued_by": row.issued_by,
        "sha256": row.sha256,
    }


class PriceSerializer(s.Serializer[Any]):
    currency = s.CharField(max_length=3, help_text="ISO 4217, such as USD.")
    resource = s.CharField(max_length=40, help_text="gpu.MODEL, gpu, cpu, memory or storage.")
    amount = s.CharField(max_length=24, help_text="For a GPU-hour, core-hour or GiB-hour.")
    starts_on = s.DateField(required=False, help_text="Default: today.")


class PricesView(PortalView):
    permissions = {"GET": P.PLATFORM_ADMIN, "POST": P.PLATFORM_ADMIN}

    @extend_schema(operation_id="prices_list", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """List prices with the days from which they are valid."""
        return items(spent.price_rows())

    @extend_schema(request=PriceSerializer, responses={201: OpenApiTypes.OBJECT})
    def post(self, request: Request) -> Response:
        """Set a price from a day on; setting it again for the same day replaces it."""
        body = {"starts_on": clock.now().date(), **read(PriceSerializer, request)}
        row = prices.set_price(actor=self.actor, **body)
        answer = {"id": row.id, "resource": row.resource, "starts_on": row.starts_on}
        return Response(answer, status=status.HTTP_201_CREATED)


class PriceView(PortalView):
    permissions = {"DELETE": P.PLATFORM_ADMIN}

    @extend_schema(responses={204: None})
    def delete(self, request: Request, price: UUID) -> Response:
        """Delete a price; the one before it stays valid."""
        prices.delete_price(actor=self.actor, price_id=price)
        return Response(status=status.HTTP_204_NO_CONTENT)


class AccountSerializer(s.Serializer[Any]):
    currency = s.CharField(max_length=3)
    mode = s.ChoiceField(BillingAccount.Mode.values)
    address = s.CharField(max_length=1000, required=False, allow_blank=True)


class AccountView(OrgView):
    permissions = {"GET": P.BILLING_READ, "PUT": P.PLATFORM_ADMIN}

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """Return currency and mode of the organization."""
        row = prices.account_of(self.org.id)
        return Response({"currency": row.currency, "mode": row.mode, "address": row.address})

    @extend_schema(request=AccountSerializer, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request) -> Response:
        """Set currency and mode. For operators."""
        body = read(AccountSerializer, request)
        row = prices.set_account(actor=self.actor, org=self.org, **body)
        return Response({"currency": row.currency, "mode": row.mode, "address": row.address})


class DiscountSerializer(s.Serializer[Any]):
    team = s.CharField(required=False, allow_null=True)
    percent = s.CharField(max_length=8)
    starts_on = s.DateField(required=False, help_text="Default: today.")


class DiscountsView(OrgView):
    permissions = {"POST": P.PLATFORM_ADMIN}

    @extend_schema(request=DiscountSerializer, responses={201: OpenApiTypes.OBJECT})
    def post(self, request: Request) -> Response:
        """Set the discount of the organization or a team from a day on. For operators."""
        body = {"starts_on": clock.now().date(), **read(DiscountSerializer, request)}
        slug = body.pop("team", None)
        team = self.team(slug) if slug else None
        row = prices.set_discount(actor=self.actor, org=self.org, team=team, **body)
        return Response(
            {"team": slug, "percent": f"{row.percent:f}", "starts_on": row.starts_on},
            status=status.HTTP_201_CREATED,
        )


class CreditSerializer(s.Serializer[Any]):
    team = s.CharField(required=False, allow_null=True)
    amount = s.CharField(max_length=24)
    starts_on = s.DateField(required=False)
    note = s.CharField(max_length=200, required=False, allow_blank=True)


class CreditsView(OrgView):
    permissions = {"POST": P.PLATFORM_ADMIN}

    @extend_schema(request=CreditSerializer, responses={201: OpenApiTypes.OBJECT})
    @idempotent
    def post(self, request: Request) -> Response:
        """Give a credit that later statements use up. For operators."""
        body = read(CreditSerializer, request)
        slug = body.pop("team", None)
        team = self.team(slug) if slug else None
        row = prices.add_credit(actor=self.actor, org=self.org, team=team, **body)
        return Response(
            {"id": row.id, "amount": f"{row.amount:f}", "currency": row.currency},
            status=status.HTTP_201_CREATED,
        )
