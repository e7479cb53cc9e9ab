from __future__ import annotations

from django.urls import path

from notifications.api import views
from portal.api.schema import Tag

_CHANNEL = "orgs/<slug:org>/notification-channels/<uuid:channel>"
TAGS = (Tag("Notifications", 250, ("notification-channels",)),)
urlpatterns = [
    path("me/notifications", views.NotificationsView.as_view(), name="api-notifications"),
    path(
        "me/notification-settings",
        views.NotificationSettingsView.as_view(),
        name="api-notification-settings",
    ),
    path(
        "orgs/<slug:org>/notification-channels",
        views.ChannelsView.as_view(),
        name="api-notification-channels",
    ),
    path(_CHANNEL, views.ChannelView.as_view(), name="api-notification-channel"),
    path(f"{_CHANNEL}/test", views.ChannelTestView.as_view(), name="api-notification-channel-test"),
    path(
        f"{_CHANNEL}/deliveries/<uuid:delivery>/redeliver",
        views.RedeliveryView.as_view(),
        name="api-notification-channel-redeliver",
    ),
]
