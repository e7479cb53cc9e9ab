from __future__ import annotations

from django.urls import path

from sessions.web import views

urlpatterns = [
    path("<slug:org>/sessions", views.sessions, name="sessions"),
    path("<slug:org>/sessions/new", views.new_session, name="session-new"),
    path("<slug:org>/sessions/<str:which>", views.session, name="session"),
    path("<slug:org>/sessions/<str:which>/stop", views.stop, name="session-stop"),
    path("<slug:org>/sessions/<str:which>/resume", views.resume, name="session-resume"),
]
