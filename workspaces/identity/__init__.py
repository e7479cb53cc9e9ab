"""Single sign-on: the protocols are allauth's; this package decides how far a provider is trusted."""
