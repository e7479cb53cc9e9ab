"""Types of the API's answers, one module for each app, as `make shapes` writes them.

Each is named after its part of the OpenAPI schema.
"""
