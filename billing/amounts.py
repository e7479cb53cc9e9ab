"""Units of the ledger, days in milliseconds, and money."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_HALF_EVEN, Decimal

from portal.core.formatting import gpu_text
from portal.core.messages import Message

DAY_MS = 86_400_000
HOUR_MS = 3_600_000
JOULES = 3_600_000  # of a kWh
MIB = 1 << 20
_EPOCH = date(1970, 1, 1)
_EPOCH_AT = datetime(1970, 1, 1, tzinfo=UTC)
# Stored units of a displayed one: millicores of a core, MiB of a GiB.
_SCALES = {"cpu": 1000, "memory": 1024, "storage": 1024}
UNITS = {"cpu": "core-hours", "memory": "GiB-hours", "storage": "GiB-hours"}
_NO_CENTS = frozenset({"CLP", "ISK", "JPY", "KRW", "VND", "XAF", "XOF"})


def ms_of(at: datetime) -> int:
    """Return the Unix time in whole milliseconds, truncated, so that parts of a span add up."""
    return (at - _EPOCH_AT) // timedelta(milliseconds=1)


def at_ms(ms: int) -> datetime:
    return _EPOCH_AT + timedelta(milliseconds=ms)


def day_of(ms: int) -> date:
    return _EPOCH + timedelta(days=ms // DAY_MS)


def start_of(day: date) -> int:
    """Return the Unix time in milliseconds at which a day begins."""
    return (day - _EPOCH).days * DAY_MS


def parsed_day(text: str) -> date:
    """Return the date that a text names. Raises ValueError, also where one cannot compute with it."""
    day = date.fromisoformat(text)
    if not 1970 <= day.year < 9000:
        raise ValueError(text)
    return day


def midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def month_of(day: date) -> date:
    return day.replace(day=1)


def next_month(month: date) -> date:
    return (month.replace(day=1) + timedelta(days=32)).replace(day=1)


def by_day(start: int, end: int) -> Iterator[tuple[date, int, int]]:
    """Yield the parts of a span, in milliseconds, by day."""
    while start < end:
        day = day_of(start)
        until = min(end, start_of(day) + DAY_MS)
        yield day, start, until
        start = until


def unit_of(resource: str) -> str:
    """Return the unit in which a resource class is priced."""
    return UNITS.get(resource, "GPU-hours")


def resource_text(resource: str) -> str:
    """Return the name of a resource class for people."""
    kind, _, model = resource.partition(".")
    names = {
        "cpu": "CPU",
        "memory": Message("Memory", context="text, billing, RAM"),
        "storage": Message("Storage", context="text, billing"),
        "gpu": "GPU",
    }
    names["lost"] = Message("Lost time", context="text, billing")
    return gpu_text(model) or names.get(kind, kind)


def hours_of(resource: str, quantity: int) -> Decimal:
    """Return a quantity of the ledger in the unit of `unit_of`, without rounding."""
    return Decimal(quantity) / (HOUR_MS * _SCALES.get(resource, 1))


def decimals_of(currency: str) -> int:
    """Return how many decimals the smallest coin of a currency has."""
    return 0 if currency in _NO_CENTS else 2


def rounded(amount: Decimal, currency: str) -> Decimal:
    """Round an amount to the smallest coin of its currency, half to even."""
    return amount.quantize(Decimal(1).scaleb(-decimals_of(currency)), ROUND_HALF_EVEN)


def digits(amount: Decimal, currency: str, group: str = ",") -> str:
    """Return an exact amount with at least the decimals of its currency: "1.50", "0.0016"."""
    own = -int(amount.normalize().as_tuple().exponent)
    return f"{amount:{group}.{max(own, decimals_of(currency))}f}"


def money(amount: Decimal | None, currency: str) -> str:
    """Return an amount, rounded to coins, with its currency: "1,234.50 USD"."""
    return "–" if amount is None else f"{digits(rounded(amount, currency), currency)} {currency}"
