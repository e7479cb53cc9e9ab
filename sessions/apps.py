from portal.core.declarations import MusterApp


class SessionsConfig(MusterApp):
    name = "sessions"
    label = "interactive"  # of its tables; Django's own app of browser sessions is `sessions`
