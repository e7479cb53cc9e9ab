"""App configuration."""

from django.apps import AppConfig


class WorkspacesConfig(AppConfig):
    name = "workspaces"

    def ready(self) -> None:
        from django.conf import settings
        from django.db.models.signals import post_migrate, pre_migrate

        from portal.core import protocols
        from portal.web import navigation, search
        from workspaces.approvals import kinds
        from workspaces.audit import sign_in_events
        from workspaces.identity import allauth_compat, rate_limit_cache
        from workspaces.identity.allauth_signals import listen
        from workspaces.protocols import PROTOCOLS
        from workspaces.quotas.requests import KIND
        from workspaces.tenancy import row_security
        from workspaces.web.navigation import ENTRIES
        from workspaces.web.search import PROVIDERS

        kinds.register(KIND)
        navigation.register(*ENTRIES)
        search.register(*PROVIDERS)
        protocols.register(*PROTOCOLS)
        allauth_compat.use_cache(rate_limit_cache.durable)
        listen()
        sign_in_events.listen()
        if settings.MUSTER_ROW_SECURITY:
            row_security.build()
        pre_migrate.connect(
            row_security.before_migrating, sender=self, dispatch_uid="row_security.before_migrating"
        )
        post_migrate.connect(
            row_security.after_migrating, sender=self, dispatch_uid="row_security.after_migrating"
        )
