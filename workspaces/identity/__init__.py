"""Single sign-on. The protocols are allauth's; what a provider's word is worth here is decided in this package."""
