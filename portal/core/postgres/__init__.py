"""Django's PostgreSQL, asked less often whether it is still there."""
