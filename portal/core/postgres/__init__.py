"""Django's PostgreSQL backend with cheap connection checks and row-level security."""
