"""Who may see and change a shared folder: its team, its visibility, and who is invited."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet

from datasets.models import FolderInvitation, SharedFolder, Visibility
from portal.core.errors import NotPermitted
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission as P


def visible(actor: Actor, rows: QuerySet[SharedFolder]) -> QuerySet[SharedFolder]:
    """Narrow to the shared folders that the actor may read."""
    teams = actor.teams_where(P.DATASETS_READ)
    if teams is None:
        return rows
    invited = FolderInvitation.objects.filter(folder_id=OuterRef("id"))
    found = Q(Exists(invited.filter(team_id__in=teams)))
    if _in_person(actor, P.DATASETS_READ):
        found |= Q(Exists(invited.filter(user_id=actor.user_id)))
    if teams:
        found |= Q(visibility=Visibility.ORGANIZATION)
        found |= Q(team_id__in=teams) & (
            ~Q(visibility=Visibility.PRIVATE) | Q(owner_id=actor.user_id)
        )
        found |= Q(team_id__in=actor.teams_where(P.DATASETS_ADMIN) or ())
    return rows.filter(found)


def may_write(actor: Actor, folder: SharedFolder) -> bool:
    """Return whether the actor may change files. The folder is one that they see."""
    if actor.refuses_to_act(P.DATASETS_WRITE):
        return False
    is_open = folder.visibility != Visibility.PRIVATE or folder.owner_id == actor.user_id
    if actor.may(P.DATASETS_WRITE if is_open else P.DATASETS_ADMIN, folder.team_id) and actor.may(
        P.DATASETS_WRITE, folder.team_id
    ):
        return True
    invited = FolderInvitation.objects.filter(folder=folder, can_write=True)
    return any(
        actor.may(P.DATASETS_WRITE, team)
        if team is not None
        else user == actor.user_id and _in_person(actor, P.DATASETS_WRITE)
        for team, user in invited.values_list("team_id", "user_id")
    )


def may_manage(actor: Actor, folder: SharedFolder) -> bool:
    """Return whether the actor may rename, share and delete it, and set its quota."""
    return not actor.refuses_to_act(P.DATASETS_WRITE) and actor.may(
        _to_manage(actor, folder), folder.team_id
    )


def check_may_write(actor: Actor, folder: SharedFolder) -> None:
    """Raise NotPermitted unless the actor may change files."""
    if not may_write(actor, folder):
        authorize(actor, P.DATASETS_WRITE, folder.team_id)
        raise NotPermitted(Message("You may read this, but not change it."))


def check_may_manage(actor: Actor, folder: SharedFolder) -> None:
    """Raise NotPermitted unless the actor may rename, share and delete it, and set its quota."""
    authorize(actor, _to_manage(actor, folder), folder.team_id)


def _to_manage(actor: Actor, folder: SharedFolder) -> P:
    """Return the permission that it takes. Jobs only write, also to what their submitter owns."""
    is_own = folder.owner_id == actor.user_id and not actor.is_job
    return P.DATASETS_WRITE if is_own else P.DATASETS_ADMIN


def _in_person(actor: Actor, permission: P) -> bool:
    """Return whether an invitation of the person counts: their token may be limited to a team."""
    if actor.user_id is None or actor.refuses_to_act(permission):
        return False
    return actor.token is None or (actor.token.allows(permission) and actor.token.team_id is None)
