"""Single sign-on by allauth's protocols; decides how far each provider is trusted."""
