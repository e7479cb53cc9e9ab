from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "monitoring.notifications"
    label = "notifications"
