"""Who am I; create, list, change and delete repositories."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from datasets import services
from datasets.hub.represent import details, summary
from datasets.hub.requests import (
    KINDS,
    TYPES,
    actor_of,
    address_of,
    answer_json,
    hub_view,
    json_of,
    repository_of,
    text_in,
    version_of,
)
from datasets.models import Visibility
from datasets.selectors import find_repository, visible_repositories
from portal.core import yaml_documents
from portal.core.errors import Conflict, InvalidInput
from portal.core.messages import Message
from portal.core.yaml_documents import BadYaml
from workspaces.api.base import team_in
from workspaces.models import Organization
from workspaces.tenancy.http import enter

PAGE = 100


@hub_view("GET")
def whoami(request: HttpRequest) -> HttpResponse:
    """Say whose token it is. The namespace of a token is its organization."""
    actor = actor_of(request)
    org = _org_of_token(request)
    team = actor.token.name if actor.token else ""
    return answer_json(
        {
            "type": "user",
            "id": str(actor.user_id).replace("-", "")[:24],
            "name": org.slug,
            "fullname": actor.name or actor.email,
            "email": actor.email,
            "emailVerified": True,
            "isPro": False,
            "canPay": False,
            "orgs": [
                {"type": "org", "name": org.slug, "fullname": org.name, "isEnterprise": False}
            ],
            "auth": {
                "type": "access_token",
                "accessToken": {"displayName": team, "role": "write"},
            },
        }
    )


@hub_view("POST")
def create(request: HttpRequest) -> HttpResponse:
    """Create a repository in the team of the token, else as in the REST API."""
    data = json_of(request)
    slug = text_in(data, "organization") or _org_of_token(request).slug
    enter(request, slug)
    kind = _kind(text_in(data, "type", "model"))
    is_private = data.get("private") or text_in(data, "visibility") == "private"
    try:
        row = services.create_repository(
            actor=actor_of(request),
            team=team_in(request, None),
            kind=kind,
            name=text_in(data, "name"),
            visibility=Visibility.PRIVATE if is_private else Visibility.TEAM,
        )
    except Conflict as error:
        if error.kind != "already_exists":
            raise
        known = visible_repositories(actor_of(request), kind).filter(
            name__iexact=text_in(data, "name")
        )
        if not known.exists():
            raise
        url = address_of(request, known.get())
        return answer_json({"error": error.message, "url": url}, status=409)
    return answer_json({"url": address_of(request, row), "name": f"{slug}/{row.name}"})


@hub_view("DELETE")
def delete(request: HttpRequest) -> HttpResponse:
    """Move a repository to the trash."""
    data = json_of(request)
    enter(request, text_in(data, "organization") or _org_of_token(request).slug)
    kind = _kind(text_in(data, "type", "model"))
    row = find_repository(actor_of(request), kind, text_in(data, "name"))
    services.delete_repository(actor=actor_of(request), repository=row)
    return answer_json({})


@hub_view("POST")
def move(request: HttpRequest) -> HttpResponse:
    """Rename a repository within its organization."""
    data = json_of(request)
    from_org, _slash, old = text_in(data, "fromRepo").rpartition("/")
    to_org, _slash, new = text_in(data, "toRepo").rpartition("/")
    if from_org != to_org:
        raise InvalidInput(Message("A repository can't move to another organization."))
    enter(request, from_org or _org_of_token(request).slug)
    row = find_repository(actor_of(request), _kind(text_in(data, "type", "model")), old)
    services.update_repository(actor=actor_of(request), repository=row, name=new)
    return answer_json({})


@hub_view("PUT")
def settings(request: HttpRequest, plural: str, name: str) -> HttpResponse:
    """Change who sees a repository."""
    data = json_of(request)
    row = repository_of(request, plural, name)
    wanted = text_in(data, "visibility")
    if not wanted and isinstance(data.get("private"), bool):
        wanted = "private" if data["private"] else "public"
    if wanted not in {"private", "public"}:
        raise InvalidInput(Message("Send private or visibility."))
    visibility = Visibility.PRIVATE if wanted == "private" else Visibility.TEAM
    services.update_repository(actor=actor_of(request), repository=row, visibility=visibility)
    return answer_json({"private": wanted == "private"})


@hub_view("GET")
def search(request: HttpRequest, plural: str) -> HttpResponse:
    """List repositories of the organization of the token, or of `author`."""
    slug = request.GET.get("author") or _org_of_token(request).slug
    enter(request, slug)
    rows = visible_repositories(actor_of(request), KINDS[plural]).select_related("org")
    if text := request.GET.get("search", "").rpartition("/")[2]:
        rows = rows.filter(name__icontains=text)
    limit = request.GET.get("limit", "")
    most = min(int(limit), PAGE) if limit.isdecimal() and len(limit) < 9 else PAGE
    return answer_json([summary(row) for row in rows.order_by("-updated_at")[:most]])


@hub_view("GET", "HEAD")
def info(request: HttpRequest, plural: str, name: str, revision: str = "") -> HttpResponse:
    """Return a repository with its files at a revision."""
    row = repository_of(request, plural, name)
    version = version_of(row, revision)
    return answer_json(details(row, version, with_blobs="blobs" in request.GET))


@hub_view("GET")
def auth_check(request: HttpRequest, plural: str, name: str) -> HttpResponse:
    """Say that the token may read a repository."""
    repository_of(request, plural, name)
    return answer_json({})


@hub_view("POST")
def validate_yaml(request: HttpRequest) -> HttpResponse:
    """Check the metadata of a card."""
    text = text_in(json_of(request), "content")
    try:
        parts = text.split("---", 2)
        if text.startswith("---") and len(parts) == 3:
            yaml_documents.load(parts[1])
    except BadYaml as error:
        return answer_json({"errors": [{"message": str(error)}], "warnings": []}, status=400)
    return answer_json({"errors": [], "warnings": []})


def _kind(text: str) -> str:
    for kind, name in TYPES.items():
        if name == text:
            return kind
    raise InvalidInput(Message("The type must be dataset or model."))


def _org_of_token(request: HttpRequest) -> Organization:
    token = actor_of(request).token
    assert token is not None
    return Organization.objects.get(id=token.org_id)
