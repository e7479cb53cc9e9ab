from django.apps import AppConfig


class WorkspacesConfig(AppConfig):
    name = "workspaces"

    def ready(self) -> None:
        from workspaces import trail
        from workspaces.listening import listen

        listen()
        trail.listen()
