"""Settings by topic. Environment variables select embedded or server mode (docs/design/run.md)."""

from __future__ import annotations

from portal.settings.api import *
from portal.settings.apps import *
from portal.settings.auth import *
from portal.settings.database import *
from portal.settings.files import *
from portal.settings.logs import *
from portal.settings.muster import *
from portal.settings.tasks import *
from portal.settings.web import *
