"""A name and a password, asked of directories: of several at once, within one deadline, so that one that is down delays nobody."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Any

from portal.core import clock
from workspaces.identity import request_limits
from workspaces.identity.ldap.entries import is_disabled, person_of
from workspaces.identity.ldap.errors import Trouble
from workspaces.identity.ldap.settings import Config
from workspaces.identity.provisioning import Person

log = logging.getLogger(__name__)
SECONDS = 4.0  # of the five that a sign-in may take
AT_ONCE = 16  # directories that one sign-in asks


@dataclass(frozen=True)
class Answer:
    """Of one directory. `person` None: not their password, or nobody there. `trouble`: it was not to be asked."""

    slug: str
    person: Person | None = None
    trouble: Trouble | None = None


def ask(
    directories: Sequence[tuple[str, Config]], login: str, password: str, seconds: float = SECONDS
) -> list[Answer]:
    """Until one knows them, or all have answered, or the time is over: in the order of the directories, and whoever has not
    answered is in trouble. An empty password is nobody's and nobody is asked."""
    if not password or not login or "\x00" in login + password:
        return []
    until = clock.monotonic() + seconds
    pool = ThreadPoolExecutor(
        AT_ONCE, "directory"
    )  # its own: no other organization's hanging directories are in it
    asked: dict[Future[Answer], str] = {
        pool.submit(_one, slug, config, login, password, until): slug
        for slug, config in directories
    }
    waiting, answers = set(asked), dict[str, Answer]()
    while waiting and clock.monotonic() < until:
        done, waiting = wait(
            waiting, timeout=max(0.0, until - clock.monotonic()), return_when=FIRST_COMPLETED
        )
        answers |= {asked[future]: future.result() for future in done}
        if any(answer.person for answer in answers.values()):
            break
    late = Trouble(f"It did not answer within {seconds:g} s.", is_away=True)
    pool.shutdown(wait=False, cancel_futures=True)
    for future in waiting:
        answers.setdefault(asked[future], Answer(asked[future], trouble=late))
    return [answers[slug] for slug, _ in directories]


def _one(slug: str, config: Config, login: str, password: str, until: float) -> Answer:
    try:
        seconds = until - clock.monotonic()
        with request_limits.question(slug, seconds):
            return Answer(slug, _person(config, login, password, seconds))
    except Trouble as trouble:
        log.warning("directory %s: %s", slug, trouble.message)
        return Answer(slug, trouble=trouble)
    except Exception as error:  # a thread's accident must not look like a wrong password
        log.exception("directory %s", slug)
        return Answer(
            slug, trouble=Trouble(f"{type(error).__name__} while asking it.", is_away=True)
        )


def _person(config: Config, login: str, password: str, seconds: float) -> Person | None:
    """Who it is, with the groups of this moment; the password is tried last, as it makes the conversation that person's."""
    from workspaces.identity.ldap.connection_pool import conversation

    meaning = config.meaning
    with conversation(config, max(0.1, seconds)) as directory:
        entry = directory.find(login)
        if entry is None or is_disabled(entry):
            return None
        person: Any = person_of(entry, meaning)
        if person is None:
            raise Trouble(f"{entry.dn} has no {meaning.subject} that the reader may see.")
        groups = directory.groups_of(entry, person.login)
        return replace(person, groups=groups) if directory.is_password(entry, password) else None
