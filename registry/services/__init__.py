"""Change registered models and their versions. Nothing else writes these rows."""

from registry.services.aliases import delete_alias, set_alias, set_stage
from registry.services.approval import (
    acknowledge_pickles,
    checks_of,
    decide_version,
    request_approval,
)
from registry.services.models import (
    create_model,
    delete_model,
    purge_model,
    restore_model,
    update_model,
)
from registry.services.uploads import discard_upload, finish_upload, put_file, start_upload
from registry.services.versions import (
    create_version,
    delete_version,
    inspect_again,
    promote_version,
    update_version,
)

__all__ = [
    "acknowledge_pickles",
    "checks_of",
    "create_model",
    "create_version",
    "decide_version",
    "delete_alias",
    "delete_model",
    "delete_version",
    "discard_upload",
    "finish_upload",
    "inspect_again",
    "promote_version",
    "purge_model",
    "put_file",
    "request_approval",
    "restore_model",
    "set_alias",
    "set_stage",
    "start_upload",
    "update_model",
    "update_version",
]
