"""Ports of jobs: who may open them, where they are, and when they were used.

The gateway (portal/gateway) asks `provider`; pages and the API show `listing`.
"""
