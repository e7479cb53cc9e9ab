from workspaces.models.access import AccessToken
from workspaces.models.people import Membership, Organization, Team, TeamMembership, User
from workspaces.models.quota import Quota

__all__ = ["AccessToken", "Membership", "Organization", "Quota", "Team", "TeamMembership", "User"]
