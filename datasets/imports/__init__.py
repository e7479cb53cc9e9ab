"""Fetch files from elsewhere into a repository: S3, HTTP(S), another Hub, a cluster's directory.

`sources` reads addresses, a module for each kind lists and reads files, and `running` does the work
in a background thread. See docs/design/datasets.md.
"""
