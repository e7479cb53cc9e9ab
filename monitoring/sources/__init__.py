"""Read GPU measurements from dcgm-exporters and from Prometheus."""
