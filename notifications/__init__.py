"""Notifications: events become messages to people and channels (docs/design/notifications.md)."""
