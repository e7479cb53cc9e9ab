"""Workspaces: folders that people and jobs of a team share, without versions.

They are called `SharedFolder` in the code, because the Django app `workspaces` is about tenancy.
"""
