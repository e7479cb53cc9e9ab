"""Check a name and a password against several directories at once, within one deadline."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Any

from portal.core import clock
from portal.core.messages import Message
from workspaces.identity import request_limits
from workspaces.identity.ldap.entries import is_disabled, person_of
from workspaces.identity.ldap.errors import DirectoryError
from workspaces.identity.ldap.settings import Config
from workspaces.identity.provisioning import ProviderPerson

log = logging.getLogger(__name__)
SECONDS = 4.0  # of the five that a sign-in may take
AT_ONCE = 16  # directories queried in parallel by one sign-in


@dataclass(frozen=True)
class PasswordCheckResult:
    """The answer of one directory.

    `person` is None if the name is unknown or the password wrong; `trouble` is set if the directory
    could not be queried. `disabled` is the subject of an account that the directory has disabled.
    """

    slug: str
    person: ProviderPerson | None = None
    trouble: DirectoryError | None = None
    disabled: str = ""


def query_directories(
    directories: Sequence[tuple[str, Config]], login: str, password: str, seconds: float = SECONDS
) -> list[PasswordCheckResult]:
    """Query the directories until one knows the person, all have answered, or time is up.

    Answers are in the order of the directories; one that has not answered is in trouble. With an
    empty password none is queried.
    """
    if not password or not login or "\x00" in login + password:
        return []
    until = clock.monotonic() + seconds
    # A pool per sign-in, so that directories of other organizations cannot block it.
    pool = ThreadPoolExecutor(AT_ONCE, "directory")
    futures: dict[Future[PasswordCheckResult], str] = {
        pool.submit(_query, slug, config, login, password, until): slug
        for slug, config in directories
    }
    waiting, answers = set(futures), dict[str, PasswordCheckResult]()
    while waiting and clock.monotonic() < until:
        done, waiting = wait(
            waiting, timeout=max(0.0, until - clock.monotonic()), return_when=FIRST_COMPLETED
        )
        answers |= {futures[future]: future.result() for future in done}
        if any(answer.person for answer in answers.values()):
            break
    late = DirectoryError(
        Message("The directory didn't respond within {seconds} s.", seconds=f"{seconds:g}"),
        is_away=True,
    )
    pool.shutdown(wait=False, cancel_futures=True)
    for future in waiting:
        answers.setdefault(futures[future], PasswordCheckResult(futures[future], trouble=late))
    return [answers[slug] for slug, _ in directories]


def _query(
    slug: str, config: Config, login: str, password: str, until: float
) -> PasswordCheckResult:
    try:
        seconds = until - clock.monotonic()
        with request_limits.question(slug, seconds):
            return _check(slug, config, login, password, seconds)
    except DirectoryError as trouble:
        log.warning("directory %s: %s", slug, trouble.message)
        return PasswordCheckResult(slug, trouble=trouble)
    except Exception as error:  # an error in a thread must not look like a wrong password
        log.exception("directory %s", slug)
        return PasswordCheckResult(
            slug,
            trouble=DirectoryError(
                Message("{__name__} while querying the directory.", __name__=type(error).__name__),
                is_away=True,
            ),
        )


def _check(
    slug: str, config: Config, login: str, password: str, seconds: float
) -> PasswordCheckResult:
    """Return the person with their current groups, or nobody if the password is wrong.

    The password is checked last, as that binds the connection as that person.
    """
    from workspaces.identity.ldap.connection_pool import pooled_connection

    schema = config.schema
    with pooled_connection(config, max(0.1, seconds)) as directory:
        entry = directory.find(login)
        if entry is None:
            return PasswordCheckResult(slug)
        if is_disabled(entry):
            return PasswordCheckResult(slug, disabled=entry.first(schema.subject)[:400])
        person: Any = person_of(entry, schema)
        if person is None:
            raise DirectoryError(
                Message(
                    "{dn} has no {subject} that the bind DN can read.",
                    dn=entry.dn,
                    subject=schema.subject,
                )
            )
        groups = directory.groups_of(entry, person.login)
        is_right = directory.is_password(entry, password)
        return PasswordCheckResult(slug, replace(person, groups=groups) if is_right else None)
