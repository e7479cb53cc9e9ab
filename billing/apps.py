from portal.core.declarations import MusterApp


class BillingConfig(MusterApp):
    name = "billing"
    label = "usage"  # of its tables and migrations, from when it was a part of `monitoring`
