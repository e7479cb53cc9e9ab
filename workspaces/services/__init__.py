from workspaces.services.bootstrap import bootstrap
from workspaces.services.orgs import (
    add_member,
    add_team_member,
    change_member,
    change_team_member,
    create_org,
    create_team,
    remove_member,
    remove_team_member,
    rename_team,
)
from workspaces.services.quota import set_quota
from workspaces.services.roles import change_role, delete_role, make_role
from workspaces.services.tokens import Bearer, create_token, issue_attempt_tokens, revoke_attempt_tokens, revoke_token

__all__ = [
    "Bearer",
    "add_member", "add_team_member", "bootstrap", "change_member", "change_role", "change_team_member", "create_org", "create_team",
    "create_token", "delete_role", "issue_attempt_tokens", "make_role", "remove_member", "remove_team_member", "rename_team",
    "revoke_attempt_tokens", "revoke_token", "set_quota",
]
