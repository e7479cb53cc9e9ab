from portal.core.declarations import MusterApp


class NotificationsConfig(MusterApp):
    name = "notifications"
