from django.apps import AppConfig


class WorkspacesConfig(AppConfig):
    name = "workspaces"

    def ready(self) -> None:
        from django.conf import settings
        from django.db.models.signals import post_migrate, pre_migrate

        from workspaces import durable, trail
        from workspaces.listening import listen
        from workspaces.tenancy import rows

        durable.use_for_allauth()
        listen()
        trail.listen()
        if settings.MUSTER_ROW_SECURITY:
            rows.build()
        pre_migrate.connect(rows.before_migrating, sender=self, dispatch_uid="open the second wall")
        post_migrate.connect(
            rows.after_migrating, sender=self, dispatch_uid="build the second wall"
        )
