"""Run jobs on Kubernetes.

Modules either build objects, interpret objects, or talk to the API server.
"""
