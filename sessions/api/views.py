"""REST: start, find and stop sessions."""

from __future__ import annotations

from typing import Annotated, TypedDict

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.scheduling.advice import ExpectedStartShape
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.core.shapes import PageShape, whole_page
from sessions import services
from sessions.api import serializers as s
from sessions.choices import at_choices, choices_of, spec_of_choices
from sessions.lists import SESSIONS
from sessions.models import InteractiveSession
from sessions.readiness import ask_app
from sessions.representations import (
    InteractiveSessionDetailShape,
    InteractiveSessionShape,
    SessionTemplateShape,
    detail_of,
    session_row,
    template_row,
)
from sessions.selectors import find_session, sessions_with_state
from sessions.sharing import share_session, unshare_session
from sessions.templates import template_named, templates
from workspaces.access.actors import Actor
from workspaces.api.base import OrgView, idempotent
from workspaces.api.views import read


class SessionFaultShape(TypedDict):
    field: Annotated[str, "As in the body; empty for what has no field."]
    message: str


class SessionStartShape(TypedDict):
    ok: Annotated[bool, "The session would be accepted."]
    starts_now: bool
    text: Annotated[str, "Where it would start, what it would wait for, or why it is refused."]
    errors: list[SessionFaultShape]
    expected: Annotated[ExpectedStartShape | None, "null unless it would wait."]


class SessionTokenShape(TypedDict):
    token: Annotated[str, "For `Authorization: token …`; JupyterLab also takes `?token=…`."]


def _row_of(session: InteractiveSession, actor: Actor) -> InteractiveSessionShape:
    """Return what an action answers, also to a token that may not read sessions."""
    return session_row(sessions_with_state().get(id=session.id), actor)


class SessionsView(OrgView):
    permissions = {"GET": None, "POST": None}

    @extend_schema(operation_id="sessions_list", parameters=SESSIONS.parameters())
    def get(self, request: Request) -> PageShape[InteractiveSessionShape]:
        """List visible sessions, newest first. Keyset pagination."""
        return SESSIONS.answer(self.actor, request.query_params)

    @extend_schema(
        request=s.NewSessionSerializer,
        responses={200: SessionStartShape, 201: InteractiveSessionShape},
        parameters=[
            OpenApiParameter("dry_run", bool, description="Only say what a start would answer.")
        ],
    )
    def post(self, request: Request) -> Response:
        """Start a session."""
        if request.query_params.get("dry_run", "").lower() in {"1", "true", "yes"}:
            return Response(self._check(request))
        return self._start(request)

    @idempotent
    def _start(self, request: Request) -> Response:
        body = read(s.NewSessionSerializer, request)
        choices = choices_of(body)
        spec_of_choices(choices)  # what is wrong with them is told before a missing team
        team = self.team(body.get("team") or None)
        session = services.start_session(actor=self.actor, team=team, choices=choices)
        return Response(_row_of(session, self.actor), status=status.HTTP_201_CREATED)

    def _check(self, request: Request) -> SessionStartShape:
        body = read(s.NewSessionSerializer, request)
        choices = choices_of(body)
        try:
            spec = spec_of_choices(choices)
            team = self.team(body.get("team") or None)
            found = services.check_session(actor=self.actor, team=team, choices=choices)
        except InvalidInput as error:
            told = at_choices(error)
            refused = told.data["errors"]
            return {
                "ok": False,
                "starts_now": False,
                "text": refused[0]["message"] if refused else told.message,
                "errors": refused,
                "expected": None,
            }
        draft = found.draft
        faults = at_choices(InvalidInput(draft.start_text, errors=draft.errors)).data["errors"]
        errors: list[SessionFaultShape] = [
            {"field": one["field"], "message": one["message"]} for one in faults
        ]
        text = errors[0]["message"] if errors and not draft.is_ok else draft.start_text
        if (
            draft.starts_now
            and not spec.image
            and (product := template_named(choices.template).product)
        ):
            text = Message(
                "{text} {app} must be installed there, or choose an image.", text=text, app=product
            )
        if draft.is_ok and not choices.workspace and not found.home:
            text = Message(
                "{text} It has no home folder, as the cluster can't mount workspaces: its files are "
                "gone at its end.",
                text=text,
            )
        return {
            "ok": draft.is_ok,
            "starts_now": draft.starts_now,
            "text": text,
            "errors": errors,
            "expected": draft.expected.as_dict() if draft.expected else None,
        }


class SessionView(OrgView):
    permissions = {"GET": None}

    @extend_schema(operation_id="sessions_retrieve")
    def get(self, request: Request, which: str) -> InteractiveSessionDetailShape:
        """Get a session by number or name, with what happens now or why it failed."""
        session = find_session(self.actor, which)
        ask_app(session, request._request)
        return detail_of(session, self.actor)


class StopView(OrgView):
    permissions = {"POST": None}

    @extend_schema(request=None)
    def post(self, request: Request, which: str) -> InteractiveSessionShape:
        """Stop a session. Idempotent."""
        session = find_session(self.actor, which)
        services.stop_session(actor=self.actor, session=session)
        return _row_of(session, self.actor)


class ResumeView(OrgView):
    permissions = {"POST": None}

    @extend_schema(request=None, responses={200: InteractiveSessionShape})
    @idempotent
    def post(self, request: Request, which: str) -> Response:
        """Start a session that has ended once more, with the same choices."""
        session = find_session(self.actor, which)
        services.resume_session(actor=self.actor, session=session)
        return Response(_row_of(session, self.actor))


class RestartView(OrgView):
    permissions = {"POST": None}

    @extend_schema(request=None, responses={200: InteractiveSessionShape})
    @idempotent
    def post(self, request: Request, which: str) -> Response:
        """Stop a session, if it has not ended, and start it again with the same choices."""
        session = find_session(self.actor, which)
        services.restart_session(actor=self.actor, session=session)
        return Response(_row_of(session, self.actor))


class ShareView(OrgView):
    permissions = {"POST": None}

    @extend_schema(request=s.ShareSerializer)
    def post(self, request: Request, which: str) -> InteractiveSessionShape:
        """Let a person or the team open a session, to work in it or to look at it only."""
        session, body = find_session(self.actor, which), read(s.ShareSerializer, request)
        share_session(actor=self.actor, session=session, **body)
        return _row_of(session, self.actor)


class UnshareView(OrgView):
    permissions = {"POST": None}

    @extend_schema(request=s.UnshareSerializer)
    def post(self, request: Request, which: str) -> InteractiveSessionShape:
        """End a share: open connections are closed within 2 seconds. Idempotent."""
        session, who = find_session(self.actor, which), read(s.UnshareSerializer, request)["who"]
        unshare_session(actor=self.actor, session=session, who=who)
        return _row_of(session, self.actor)


class ExtendView(OrgView):
    permissions = {"POST": None}

    @extend_schema(request=s.ExtendSerializer, responses={200: InteractiveSessionShape})
    def post(self, request: Request, which: str) -> Response:
        """Give a session more time: its time limit is raised, also while it runs."""
        session, by = find_session(self.actor, which), read(s.ExtendSerializer, request)["by"]
        services.extend_session(actor=self.actor, session=session, by=by)
        return Response(_row_of(session, self.actor))


class KeepView(OrgView):
    permissions = {"POST": None}

    @extend_schema(request=s.KeepSessionSerializer)
    def post(self, request: Request, which: str) -> InteractiveSessionShape:
        """Keep a session from the idle rule of its pool for some hours."""
        session = find_session(self.actor, which)
        hours = read(s.KeepSessionSerializer, request)["hours"]
        services.keep_session(actor=self.actor, session=session, hours=hours)
        return _row_of(session, self.actor)


class TokenView(OrgView):
    permissions = {"POST": None}

    @extend_schema(request=None)
    def post(self, request: Request, which: str) -> SessionTokenShape:
        """Show the token that the app asks for at a forwarded port. Recorded in the audit log."""
        session = find_session(self.actor, which)
        return {"token": services.show_token(actor=self.actor, session=session)}


class TemplatesView(OrgView):
    permissions = {"GET": None}

    @extend_schema(operation_id="session_templates_list")
    def get(self, request: Request) -> PageShape[SessionTemplateShape]:
        """List the templates of sessions."""
        return whole_page([template_row(one) for one in templates()])
