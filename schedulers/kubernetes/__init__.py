"""The halves of the Kubernetes backend: what is built, what is read, and the wire between."""
