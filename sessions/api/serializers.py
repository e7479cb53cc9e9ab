"""Bodies of requests, for validation and OpenAPI."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s


class NewSessionSerializer(s.Serializer[Any]):
    """What is left out has the default of the template."""

    team = s.CharField(required=False, default="", allow_blank=True)
    template = s.CharField(help_text="jupyter, vscode, terminal, tensorboard or app.")
    name = s.CharField(required=False, allow_blank=True, max_length=100)
    gpus = s.CharField(
        required=False, allow_blank=True, help_text="As in a spec: 1, h100:1, mig-1g.10gb:1."
    )
    cpus = s.CharField(required=False, allow_blank=True)
    memory = s.CharField(required=False, allow_blank=True)
    image = s.CharField(required=False, allow_blank=True, max_length=512)
    data = s.CharField(
        required=False, allow_blank=True, help_text="A dataset, or checkpoint:NAME; @REVISION."
    )
    workspace = s.CharField(
        required=False,
        allow_blank=True,
        help_text="Where it starts; empty: the home folder. none: neither.",
    )
    time_limit = s.CharField(required=False, allow_blank=True, help_text="Such as 8h.")
    pool = s.CharField(required=False, allow_blank=True)
    command = s.CharField(
        required=False, allow_blank=True, help_text="Of the template app: what starts it."
    )
    port = s.CharField(
        required=False,
        allow_blank=True,
        help_text="Of the template app: where it listens; by default MUSTER_PORT_APP.",
    )


class ShareSerializer(s.Serializer[Any]):
    who = s.CharField(max_length=254, help_text="An e-mail address, or team for all its members.")
    access = s.ChoiceField(
        choices=["write", "read"], default="write", help_text="read: to look at only."
    )


class UnshareSerializer(s.Serializer[Any]):
    who = s.CharField(max_length=254, help_text="An e-mail address, or team.")


class ExtendSerializer(s.Serializer[Any]):
    by = s.CharField(max_length=60, help_text="How much longer it may run, such as 2h.")


class KeepSessionSerializer(s.Serializer[Any]):
    hours = s.FloatField(default=2, help_text="How long the idle rule leaves it alone; at most 72.")
