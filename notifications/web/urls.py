from __future__ import annotations

from django.urls import path

from notifications.web import channels, pages

urlpatterns = [
    path("accounts/unsubscribe/<str:token>/", pages.unsubscribe, name="account_unsubscribe"),
    path("<slug:org>/notifications", pages.notifications, name="notifications"),
    path("<slug:org>/notifications/unread", pages.unread, name="notifications-unread"),
    path(
        "<slug:org>/notifications/settings",
        pages.notification_settings,
        name="notification-settings",
    ),
    path("<slug:org>/notifications/<uuid:notification>", pages.notification, name="notification"),
    path(
        "<slug:org>/notification-channels",
        channels.notification_channels,
        name="notification-channels",
    ),
    path(
        "<slug:org>/notification-channels/<uuid:channel>",
        channels.notification_channel,
        name="notification-channel",
    ),
]
