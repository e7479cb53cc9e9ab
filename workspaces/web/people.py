"""Pages: import of members from a file."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.core.errors import TooLarge
from portal.web.form_errors import FormErrors
from workspaces.access.permissions import Permission as P
from workspaces.organizations import people_import
from workspaces.organizations.invitation_links import can_mail, import_links
from workspaces.organizations.people_file import LARGEST, MOST, decoded
from workspaces.organizations.people_import import ImportReport
from workspaces.web.base import page


@page(P.MEMBERS_WRITE, ("GET", "HEAD", "POST"))
def import_people(request: Any) -> HttpResponse:
    """Preview, then run an import. Links are shown once, in that response."""
    given = request.POST
    context: dict[str, Any] = {
        "page_title": pgettext("page title", "Import people"),
        "crumbs": [(pgettext("navigation", "People"), f"/{request.org.slug}/people")],
        "most": MOST,
        "can_mail": can_mail(),
        "adds": given.get("how") == "add",
        "sends": given.get("send") == "1",
    }
    if request.method == "POST":
        with FormErrors(request):
            context["text"] = _text(request)
            report = people_import.import_people(
                actor=request.actor,
                org=request.org,
                text=context["text"],
                adds=context["adds"],
                is_dry=given.get("do") != "import",
            )
            context |= {"report": report, "links": _links(request, report)}
    return render(request, "workspaces/people_import.html", context)


def _links(request: Any, report: ImportReport) -> list[str]:
    """Return lines of "address,link", with ",mailed" if a mail was sent."""
    if not report.is_done:
        return []
    made = import_links(report, request.actor.email, send=request.POST.get("send") == "1")
    return [
        ",".join(
            [
                link["email"],
                link["url"],
                *([pgettext("part of a sentence", "mailed")] if link["is_sent"] else []),
            ]
        )
        for link in made
    ]


def _text(request: Any) -> str:
    file = request.FILES.get("file")
    if file is None:
        return str(request.POST.get("text", ""))
    if file.size > LARGEST:
        raise TooLarge(_("The file is larger than 1 MiB."))
    return decoded(file.read())
