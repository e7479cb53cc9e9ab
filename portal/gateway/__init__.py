"""The gateway: HTTP and websockets from people and programs to the ports of jobs.

It knows no business rule. Who may use which port, and where it is, a `EndpointProvider` says that the app
above registers (docs/design/gateway.md).
"""
