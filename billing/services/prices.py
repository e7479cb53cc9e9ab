"""Prices, billing accounts, discounts and credits."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from django.db import transaction

from billing.models import BillingAccount, Credit, Discount, LedgerKind, Price
from portal.core import clock
from portal.core.errors import InputErrors, InvalidInput, NotFound
from portal.core.events import EventRecord, changes, record
from portal.core.messages import Message
from schedulers.shares import share_of
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Organization, Team

DEFAULT_CURRENCY = "USD"
_CURRENCY = re.compile(r"[A-Z]{3}")
LOST = "lost"  # a price in percent
_RESOURCE = re.compile(r"gpu(\.[a-z0-9][a-z0-9.+_-]{0,33})?|cpu|memory|storage|lost")
MOST = Decimal(10) ** 9


@transaction.atomic
def set_price(
    *, actor: Actor, currency: str, resource: str, amount: object, starts_on: date
) -> Price:
    """Set the price of an hour of a resource class from a day on, until the next one.

    That of "lost" is the percentage of the price that teams pay for time that the platform lost.
    Issued statements stay as they are; the next one corrects them. Raises NotPermitted,
    InvalidInput.
    """
    authorize(actor, Permission.PLATFORM_ADMIN)
    resource = resource.strip().lower()
    errors = InputErrors()
    with errors:
        if not _RESOURCE.fullmatch(resource):
            raise InvalidInput.at(
                "resource", "must be gpu, gpu.MODEL, cpu, memory, storage or lost"
            )
    with errors:
        values = {"amount": decimal(amount, "amount", places=8)}
        if resource == LOST and values["amount"] > 100:
            raise InvalidInput.at("amount", Message("must be a percentage of the price, 0 to 100"))
    with errors:
        currency = checked_currency(currency)
    errors.raise_all()
    key: dict[str, Any] = {"currency": currency, "resource": resource, "starts_on": starts_on}
    before = Price.objects.select_for_update().filter(**key).first()
    row, _ = Price.objects.update_or_create(**key, defaults=values)
    _record(
        "price_set",
        actor,
        None,
        row.id,
        f"{resource} {row.currency} {starts_on}",
        {"price": str(before.amount)} if before else {},
        {"price": str(values["amount"])},
    )
    return row


@transaction.atomic
def delete_price(*, actor: Actor, price_id: UUID) -> None:
    """Delete a price: the one before it stays valid. Raises NotPermitted, NotFound."""
    authorize(actor, Permission.PLATFORM_ADMIN)
    row = Price.objects.select_for_update().filter(id=price_id).first()
    if row is None:
        raise NotFound(Message("There is no such price."))
    name = f"{row.resource} {row.currency} {row.starts_on}"
    _record("price_deleted", actor, None, row.id, name, {"price": str(row.amount)}, {})
    row.delete()


def account_of(org_id: UUID) -> BillingAccount:
    """Return how an organization pays; an unsaved default if nothing was set."""
    row: BillingAccount | None = BillingAccount.objects.filter(org_id=org_id).first()
    return row or BillingAccount(org_id=org_id, currency=DEFAULT_CURRENCY)


@transaction.atomic
def set_account(
    *, actor: Actor, org: Organization, currency: str, mode: str, address: str = ""
) -> BillingAccount:
    """Set the currency and the mode of an organization. Raises NotPermitted, InvalidInput."""
    authorize(actor, Permission.PLATFORM_ADMIN)
    if mode not in BillingAccount.Mode.values:
        raise InvalidInput.at("mode", "must be showback or chargeback")
    row = account_of(org.id)
    before = _facts(row, "currency", "mode", "address")
    row.currency, row.mode = checked_currency(currency), mode
    row.address = "".join(c for c in address if c.isprintable() or c == "\n")[:1000]
    row.save()
    after = _facts(row, "currency", "mode", "address")
    _record("account_changed", actor, org.id, row.id, org.slug, before, after)
    return row


@transaction.atomic
def set_discount(
    *, actor: Actor, org: Organization, team: Team | None, percent: object, starts_on: date
) -> Discount:
    """Set the discount of an organization or a team from a day on. Raises NotPermitted, InvalidInput."""
    authorize(actor, Permission.PLATFORM_ADMIN)
    value = decimal(percent, "percent")
    if value > 100:
        raise InvalidInput.at("percent", "must be from 0 to 100")
    before = Discount.objects.filter(org=org, team=team, starts_on=starts_on).first()
    row, _ = Discount.objects.update_or_create(
        org=org, team=team, starts_on=starts_on, defaults={"percent": value}
    )
    _record(
        "discount_set",
        actor,
        org.id,
        row.id,
        f"{team.slug if team else org.slug} {starts_on}",
        {"percent": str(before.percent)} if before else {},
        {"percent": str(value)},
    )
    return row


@transaction.atomic
def add_credit(
    *,
    actor: Actor,
    org: Organization,
    team: Team | None,
    amount: object,
    starts_on: date | None = None,
    note: str = "",
) -> Credit:
    """Give an amount that later statements use up. Raises NotPermitted, InvalidInput."""
    authorize(actor, Permission.PLATFORM_ADMIN)
    value = decimal(amount, "amount")
    if not value:
        raise InvalidInput.at("amount", "must be more than 0")
    row = Credit.objects.create(
        org=org,
        team=team,
        currency=account_of(org.id).currency,
        amount=value,
        starts_on=starts_on or clock.now().date().replace(day=1),
        note="".join(c for c in note if c.isprintable())[:200],
    )
    after = {"amount": f"{value} {row.currency}", "note": row.note}
    _record("credit_added", actor, org.id, row.id, team.slug if team else org.slug, {}, after)
    return row


def checked_currency(text: str) -> str:
    """Return a currency code in capitals. Raises InvalidInput."""
    found = text.strip().upper()
    if not _CURRENCY.fullmatch(found):
        raise InvalidInput.at("currency", "must be a code of three letters, such as EUR")
    return found


def decimal(text: object, field: str, places: int = 2) -> Decimal:
    """Return a number from 0 with that many decimals at most. Raises InvalidInput."""
    try:
        value = Decimal(str(text).strip())
        if not value.is_finite() or value != value.quantize(Decimal(1).scaleb(-places)):
            raise InvalidInput.at(
                field, Message("must be a number with at most {n} decimals", n=places)
            )
    except (InvalidOperation, ValueError) as error:
        raise InvalidInput.at(
            field, Message("must be a number with at most {n} decimals", n=places)
        ) from error
    if not 0 <= value <= MOST:
        raise InvalidInput.at(field, "must be 0 or more")
    return value


def _facts(row: Any, *names: str) -> dict[str, Any]:
    return {name: str(getattr(row, name)) for name in names}


def _record(
    what: str,
    actor: Actor,
    org_id: UUID | None,
    pk: UUID,
    name: str,
    before: dict[str, Any],
    after: dict[str, Any],
) -> None:
    data = {"name": name, **changes(before, after)}
    record(EventRecord(f"usage.{what}", org_id, "usage", pk, actor.email, data))


class PriceList:
    """Prices of one currency, and discounts of one organization, by day. Two statements.

    Those of several organizations are read at once by `price_lists`.
    """

    def __init__(
        self,
        currency: str,
        org_id: UUID | None = None,
        prices: Iterable[Price] | None = None,
        discounts: Iterable[Discount] | None = None,
    ):
        self.currency = currency
        if prices is None:
            prices = Price.objects.filter(currency=currency).order_by("starts_on")
        if discounts is None:
            is_one = org_id is not None
            discounts = (
                Discount.objects.filter(org_id=org_id).order_by("starts_on") if is_one else ()
            )
        self._prices: dict[str, list[tuple[date, Decimal]]] = {}
        for price in prices:
            self._prices.setdefault(price.resource, []).append((price.starts_on, price.amount))
        self._discounts: dict[UUID | None, list[tuple[date, Decimal]]] = {}
        for off in discounts:
            self._discounts.setdefault(off.team_id, []).append((off.starts_on, off.percent))

    @property
    def is_empty(self) -> bool:
        return not self._prices.keys() - {LOST}

    def changes_after(self, day: date) -> set[date]:
        """Return the later days on which a price or a discount begins."""
        steps = (*self._prices.values(), *self._discounts.values())
        return {start for step in steps for start, _ in step if start > day}

    def price(self, resource: str, day: date) -> Decimal | None:
        """Return the price of an hour, or None."""
        found = _at(self._prices.get(resource, ()), day)
        if found is None and costs_like_a_gpu(resource):
            return _at(self._prices.get("gpu", ()), day)
        return found

    def discount(self, team_id: UUID | None, day: date, kind: str = "job") -> Decimal:
        """Return the percentage off: that of the team, else of the organization.

        Of lost time, teams pay only the percentage that "lost" has as its price: by default nothing.
        """
        own = _at(self._discounts.get(team_id, ()), day) if team_id else None
        usual = own if own is not None else _at(self._discounts.get(None, ()), day) or Decimal(0)
        if kind != LedgerKind.LOST:
            return usual
        share = _at(self._prices.get(LOST, ()), day) or Decimal(0)
        return 100 - (100 - usual) * share / 100

    def hourly(
        self, resource: str, day: date, team_id: UUID | None, kind: str = "job"
    ) -> Decimal | None:
        """Return the price of an hour less the discount, without rounding."""
        price = self.price(resource, day)
        return None if price is None else price * (100 - self.discount(team_id, day, kind)) / 100


def price_lists(org_ids: Collection[UUID]) -> dict[UUID, PriceList]:
    """Return the price list of each organization in its currency. Three statements."""
    accounts = BillingAccount.objects.filter(org_id__in=org_ids)
    currencies = dict(accounts.values_list("org_id", "currency"))
    prices, discounts = defaultdict[str, list[Price]](list), defaultdict[UUID, list[Discount]](list)
    for price in Price.objects.order_by("starts_on"):
        prices[price.currency].append(price)
    for discount in Discount.objects.filter(org_id__in=org_ids).order_by("starts_on"):
        discounts[discount.org_id].append(discount)
    found = {}
    for org_id in org_ids:
        currency = currencies.get(org_id, DEFAULT_CURRENCY)
        found[org_id] = PriceList(currency, org_id, prices[currency], discounts[org_id])
    return found


def costs_like_a_gpu(resource: str) -> bool:
    """Return whether a class without a price costs what "gpu" does: MIG slices and shares do not."""
    is_part = resource.startswith("gpu.mig-") or bool(share_of(resource))
    return resource.startswith("gpu.") and not is_part


def _at(steps: Iterable[tuple[date, Decimal]], day: date) -> Decimal | None:
    found = None
    for start, value in steps:
        if start > day:
            break
        found = value
    return found
