"""The test rig: real PostgreSQL and Redis as plain processes on loopback, out of one temporary directory."""
