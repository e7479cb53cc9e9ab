from portal.core.declarations import MusterApp


class NotificationsConfig(MusterApp):
    name = "monitoring.notifications"
    label = "notifications"
