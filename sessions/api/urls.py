from __future__ import annotations

from django.urls import path

from portal.api.schema import Tag
from sessions.api import views

TAGS = (Tag("Sessions", 45, ("sessions", "session-templates")),)
urlpatterns = [
    path("orgs/<slug:org>/sessions", views.SessionsView.as_view(), name="api-interactive-sessions"),
    path(
        "orgs/<slug:org>/sessions/<str:which>",
        views.SessionView.as_view(),
        name="api-interactive-session",
    ),
    path(
        "orgs/<slug:org>/sessions/<str:which>/stop",
        views.StopView.as_view(),
        name="api-interactive-session-stop",
    ),
    path(
        "orgs/<slug:org>/sessions/<str:which>/resume",
        views.ResumeView.as_view(),
        name="api-interactive-session-resume",
    ),
    path(
        "orgs/<slug:org>/sessions/<str:which>/restart",
        views.RestartView.as_view(),
        name="api-interactive-session-restart",
    ),
    path(
        "orgs/<slug:org>/sessions/<str:which>/share",
        views.ShareView.as_view(),
        name="api-interactive-session-share",
    ),
    path(
        "orgs/<slug:org>/sessions/<str:which>/unshare",
        views.UnshareView.as_view(),
        name="api-interactive-session-unshare",
    ),
    path(
        "orgs/<slug:org>/sessions/<str:which>/extend",
        views.ExtendView.as_view(),
        name="api-interactive-session-extend",
    ),
    path(
        "orgs/<slug:org>/sessions/<str:which>/keep",
        views.KeepView.as_view(),
        name="api-interactive-session-keep",
    ),
    path(
        "orgs/<slug:org>/sessions/<str:which>/token",
        views.TokenView.as_view(),
        name="api-interactive-session-token",
    ),
    path(
        "orgs/<slug:org>/session-templates",
        views.TemplatesView.as_view(),
        name="api-session-templates",
    ),
]
