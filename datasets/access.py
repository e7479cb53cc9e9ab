"""Who may see and change a repository: its team, its visibility, and the teams it is shared with."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet

from datasets.models import Repository, Share, Visibility
from portal.core.errors import NotPermitted
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission as P


def visible(actor: Actor, rows: QuerySet[Repository]) -> QuerySet[Repository]:
    """Narrow to the repositories that the actor may read."""
    teams = actor.teams_where(P.DATASETS_READ)
    if teams is None:
        return rows
    if not teams:
        return rows.none()
    is_shared = Exists(Share.objects.filter(repository_id=OuterRef("id"), team_id__in=teams))
    in_own_teams = Q(team_id__in=teams) & (
        ~Q(visibility=Visibility.PRIVATE) | Q(owner_id=actor.user_id)
    )
    in_led_teams = Q(team_id__in=actor.teams_where(P.DATASETS_ADMIN) or ())
    return rows.filter(
        in_own_teams | in_led_teams | Q(visibility=Visibility.ORGANIZATION) | is_shared
    )


def may_write(actor: Actor, repository: Repository) -> bool:
    """Return whether the actor may add versions. The repository is one that they see."""
    if actor.may(P.DATASETS_WRITE, repository.team_id):
        return True
    shares = Share.objects.filter(repository=repository, can_write=True)
    return any(
        actor.may(P.DATASETS_WRITE, team) for team in shares.values_list("team_id", flat=True)
    )


def may_manage(actor: Actor, repository: Repository) -> bool:
    """Return whether the actor may rename, share and delete it, and set its rules."""
    return actor.may(_to_manage(actor, repository), repository.team_id)


def check_may_write(actor: Actor, repository: Repository) -> None:
    """Raise NotPermitted unless the actor may add versions."""
    if actor.refuses_to_act(P.DATASETS_WRITE) or not may_write(actor, repository):
        authorize(actor, P.DATASETS_WRITE, repository.team_id)
        raise NotPermitted(Message("You may read this, but not change it."))


def check_may_manage(actor: Actor, repository: Repository) -> None:
    """Raise NotPermitted unless the actor may rename, share and delete it, and set its rules."""
    authorize(actor, _to_manage(actor, repository), repository.team_id)


def _to_manage(actor: Actor, repository: Repository) -> P:
    """Return the permission that it takes. Jobs only write, also to what their submitter owns."""
    is_own = repository.owner_id == actor.user_id and not actor.is_job
    return P.DATASETS_WRITE if is_own else P.DATASETS_ADMIN
