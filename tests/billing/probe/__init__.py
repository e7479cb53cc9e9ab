"""An app of the tests, which runs a kind of job that has a class of its own in the ledger."""
