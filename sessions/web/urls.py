from __future__ import annotations

from django.urls import path, re_path

from sessions.web import views

urlpatterns = [
    path("<slug:org>/sessions", views.sessions, name="sessions"),
    path("<slug:org>/sessions/new", views.new_session, name="session-new"),
    path("<slug:org>/sessions/<str:which>", views.session, name="session"),
    re_path(
        r"^(?P<org>[-\w]+)/sessions/(?P<which>[^/]+)/"
        r"(?P<act>extend|keep|resume|restart|share|stop|unshare)$",
        views.act_on_session,
        name="session-act",
    ),
]
