"""How people arrange the panels of dashboards. Nobody else sees it, so it records no events."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from billing.models import DashboardLayout
from portal.core.errors import NotPermitted
from portal.core.messages import Message
from workspaces.access.actors import Actor


def arranged(known: Sequence[str], panels: str) -> tuple[list[str], list[str]]:
    """Return the names that are shown, in order, and the hidden ones ("-name" in `panels`).

    Unknown names are ignored; names that are not mentioned are shown at the end.
    """
    given = list(dict.fromkeys(panels.split(",")))
    hidden = [name[1:] for name in given if name.startswith("-") and name[1:] in known]
    shown = [name for name in given if name in known and name not in hidden]
    return shown + [name for name in known if name not in (*shown, *hidden)], hidden


def layout_of(actor: Actor, page: str) -> str:
    """Return how a person has arranged the panels of a page, "" if not at all."""
    rows = DashboardLayout.objects.filter(user=actor.user_id, page=page)
    return rows.values_list("panels", flat=True).first() or ""


@transaction.atomic
def save_layout(*, actor: Actor, page: str, known: Sequence[str], panels: str) -> None:
    """Keep how a person has arranged the panels of a page; "" returns to the default.

    Panels that the page did not show, such as those of the fleet while one organization is chosen,
    stay hidden if they were. Raises NotPermitted without a person.
    """
    if actor.user_id is None:
        raise NotPermitted(Message("Only people arrange panels."))
    rows = DashboardLayout.objects.filter(user=actor.user_id, page=page)
    if not panels:
        rows.delete()
        return
    named = {name.removeprefix("-") for name in panels.split(",")}
    _, before = arranged(known, layout_of(actor, page))
    shown, hidden = arranged(known, panels)
    hidden += [name for name in before if name not in named]
    kept = [name for name in shown if name not in hidden]
    text = ",".join([*kept, *(f"-{name}" for name in hidden)])
    DashboardLayout.objects.update_or_create(
        user_id=actor.user_id, page=page, defaults={"panels": text}
    )
