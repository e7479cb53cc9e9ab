"""App configuration."""

from portal.core.declarations import MusterApp


class WorkspacesConfig(MusterApp):
    name = "workspaces"

    def ready(self) -> None:
        from django.conf import settings
        from django.db.models.signals import post_migrate, pre_migrate

        from workspaces.audit import sign_in_events
        from workspaces.identity import allauth_compat, rate_limit_cache
        from workspaces.identity.allauth_signals import listen
        from workspaces.tenancy import row_security

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
