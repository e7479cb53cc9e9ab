"""Settings by concern. Embedded and server mode differ by environment only; every name is in docs/design/run.md."""

from __future__ import annotations

from portal.settings.api import *  # noqa: F403  (Django reads settings as module names)
from portal.settings.apps import *  # noqa: F403
from portal.settings.auth import *  # noqa: F403
from portal.settings.database import *  # noqa: F403
from portal.settings.files import *  # noqa: F403
from portal.settings.logs import *  # noqa: F403
from portal.settings.muster import *  # noqa: F403
from portal.settings.tasks import *  # noqa: F403
from portal.settings.web import *  # noqa: F403
