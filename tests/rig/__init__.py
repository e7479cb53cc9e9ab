"""The test rig: real servers such as PostgreSQL and Redis as plain processes on loopback."""
