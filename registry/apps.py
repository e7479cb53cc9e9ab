from portal.core.declarations import MusterApp


class RegistryConfig(MusterApp):
    name = "registry"
