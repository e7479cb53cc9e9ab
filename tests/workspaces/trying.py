"""Start a provider test and wait for its result."""

from __future__ import annotations

from typing import Any

from workspaces.identity.directory_threads import work
from workspaces.identity.provider_services import start_test
from workspaces.models import ProviderTest
from workspaces.tenancy.scope import no_scope, platform_scope


def try_options(**given: Any) -> ProviderTest:
    """Return the result: `is_ok`, `message` and `facts`. Raises what denies the test."""
    begun = start_test(**given)
    with no_scope():
        work()
    with platform_scope("test"):
        return ProviderTest.objects.get(id=begun.id)
