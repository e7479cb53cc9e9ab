"""Usage: the ledger of hours, prices and statements, waste, and dashboards (docs/design/usage.md)."""
