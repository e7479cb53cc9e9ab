"""Home folders: one workspace for each person and team, which their sessions mount as HOME."""

from __future__ import annotations

import re
from itertools import count

from datasets.folders import usage
from datasets.folders.selectors import visible_folders
from datasets.folders.services import create_folder
from datasets.models import SharedFolder, Visibility
from jobs.scheduling.placement import has_clusters_with
from schedulers.contract import Capability
from sessions.models import Home
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import Team

QUOTA = 20 << 30  # bytes, of a new one; its owner can change it within the quotas of the team
_LONGEST = 40  # of each part of its name
_UNUSUAL = re.compile(r"[^a-z0-9]+")


def home_of(actor: Actor, team: Team) -> SharedFolder | None:
    """Return the home of the actor in a team, unless there is none yet or it is in the trash."""
    row = Home.objects.filter(team=team, user_id=actor.user_id).first()
    return visible_folders(actor).filter(id=row.folder_id).first() if row else None


def ensure_home(actor: Actor, team: Team) -> SharedFolder:
    """Return the home of the actor in a team; make it at the first use. Raises NotPermitted."""
    if (folder := home_of(actor, team)) is not None:
        return folder
    folder = create_folder(
        actor=actor,
        team=team,
        name=_free_name(actor, team),
        description=f"Home of {actor.name} in sessions",
        visibility=Visibility.PRIVATE,
        quota=QUOTA,
    )
    Home.objects.update_or_create(
        team=team, user_id=actor.user_id, defaults={"org_id": team.org_id, "folder": folder}
    )
    return folder


def is_full(actor: Actor, team: Team) -> bool:
    folder = home_of(actor, team)
    return folder is not None and usage.is_full(folder)


def has_home(actor: Actor, team: Team) -> bool:
    """Return whether sessions of the actor in a team can have a home folder."""
    return (
        actor.user_id is not None
        and actor.may(Permission.DATASETS_WRITE, team.id)
        and has_clusters_with(team, Capability.WORKSPACES, Capability.ENDPOINTS)
    )


def name_of_home(actor: Actor, team: Team) -> str:
    """Return the name of the home, also of one that does not exist yet."""
    folder = home_of(actor, team)
    return folder.name if folder else _free_name(actor, team)


def _free_name(actor: Actor, team: Team) -> str:
    """Return a name by which people recognize the folder: "home-kim-vision"."""
    name = f"home-{_plain(actor.email.partition('@')[0])}-{_plain(team.slug)}"
    names = (name if n == 1 else f"{name}-{n}" for n in count(1))
    taken = SharedFolder.objects.filter(deleted_at=None, name__istartswith=name)
    known = {one.lower() for one in taken.values_list("name", flat=True)}
    return next(one for one in names if one not in known)


def _plain(text: str) -> str:
    return _UNUSUAL.sub("-", text.lower())[:_LONGEST].strip("-") or "x"
