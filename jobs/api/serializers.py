"""Request and response schemas of the jobs API."""

from __future__ import annotations

from rest_framework import serializers


class SpecTextSerializer(serializers.Serializer):  # type: ignore[type-arg]
    yaml = serializers.CharField(required=False, trim_whitespace=False, max_length=1 << 18)
    spec = serializers.DictField(required=False)


class RerunSerializer(SpecTextSerializer):
    overrides = serializers.DictField(
        required=False,
        help_text='Fields to change in the spec of the job, such as {"envs.LR": "3e-4"}; null '
        "removes a field.",
    )


class GpuOfferSerializer(serializers.Serializer):  # type: ignore[type-arg]
    type = serializers.CharField()
    free = serializers.IntegerField()
    total = serializers.IntegerField()
    most_per_node = serializers.IntegerField()
    note = serializers.CharField(help_text="What a share of a GPU does not isolate; else empty.")


class JobOptionsSerializer(serializers.Serializer):  # type: ignore[type-arg]
    gpu_types = GpuOfferSerializer(many=True)
    pools = serializers.ListField(
        child=serializers.CharField(), help_text="Values of policy.pool; empty without a choice."
    )
    secrets = serializers.ListField(
        child=serializers.CharField(), help_text="References for `secrets`, never values."
    )


class NewJobSerializer(SpecTextSerializer):
    team = serializers.CharField(required=False, allow_blank=True, max_length=40)


class DraftSerializer(NewJobSerializer):
    settled = serializers.BooleanField(
        required=False, help_text="The input is complete, so the image's registry may be queried."
    )
    parent = serializers.IntegerField(
        required=False, help_text="The job that is run again; `changes` compares with its spec."
    )


class WhySerializer(serializers.Serializer):  # type: ignore[type-arg]
    why = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)


class ChangeJobSerializer(serializers.Serializer):  # type: ignore[type-arg]
    name = serializers.CharField(required=False, max_length=100)
    priority = serializers.ChoiceField(["low", "normal", "high", "urgent"], required=False)
    labels = serializers.DictField(
        child=serializers.CharField(max_length=255, allow_blank=True), required=False
    )


class ExecSerializer(serializers.Serializer):  # type: ignore[type-arg]
    argv = serializers.ListField(
        child=serializers.CharField(max_length=32768, trim_whitespace=False),
        min_length=1,
        max_length=256,
    )
    timeout = serializers.FloatField(default=30, min_value=0.1, max_value=300)
    index = serializers.IntegerField(default=0, min_value=0, max_value=2**31 - 1)


class PointSerializer(serializers.Serializer):  # type: ignore[type-arg]
    name = serializers.CharField(max_length=250)
    value = serializers.FloatField()
    step = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=-(2**53), max_value=2**53
    )
    at = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        min_value=0,
        max_value=2**53,
        help_text="Unix milliseconds; default: now.",
    )


class PointsSerializer(serializers.Serializer):  # type: ignore[type-arg]
    points = PointSerializer(many=True, max_length=1000)


class ReasonSerializer(serializers.Serializer):  # type: ignore[type-arg]
    code = serializers.CharField()
    headline = serializers.CharField()
    advice = serializers.CharField()
    evidence = serializers.CharField()
    fault = serializers.CharField()


class PendingSerializer(serializers.Serializer):  # type: ignore[type-arg]
    code = serializers.CharField()
    text = serializers.CharField()
    since = serializers.DateTimeField()
    numbers = serializers.DictField()
    holders = serializers.ListField(child=serializers.DictField())
    change = serializers.DictField(allow_null=True)
    advice = serializers.CharField(required=False, allow_blank=True)
    history = serializers.ListField(child=serializers.DictField(), required=False)


class PendingAnswerSerializer(serializers.Serializer):  # type: ignore[type-arg]
    pending = PendingSerializer(allow_null=True)


class JobInputSerializer(serializers.Serializer):  # type: ignore[type-arg]
    name = serializers.CharField()
    variable = serializers.CharField(help_text="The variable with its path in the job.")
    kind = serializers.ChoiceField(["dataset", "checkpoint"])
    repository = serializers.CharField()
    version = serializers.IntegerField()
    commit = serializers.CharField()
    exists = serializers.BooleanField(help_text="Whether the version was not deleted since.")


class JobWorkspaceSerializer(serializers.Serializer):  # type: ignore[type-arg]
    name = serializers.CharField(help_text="As in the spec.")
    variable = serializers.CharField(help_text="The variable that has its path.")
    workspace = serializers.CharField()
    read_only = serializers.BooleanField()
    exists = serializers.BooleanField()


class JobSerializer(serializers.Serializer):  # type: ignore[type-arg]
    id = serializers.UUIDField()
    number = serializers.IntegerField()
    name = serializers.CharField()
    org = serializers.CharField()
    team = serializers.CharField()
    owner = serializers.DictField()
    state = serializers.CharField()
    state_text = serializers.CharField(help_text="With its source and age.")
    state_source = serializers.CharField()
    state_at = serializers.DateTimeField()
    is_stale = serializers.BooleanField()
    reason = ReasonSerializer(allow_null=True)
    pending = PendingSerializer(allow_null=True)
    priority = serializers.CharField()
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    exit_code = serializers.IntegerField(allow_null=True)
    array = serializers.DictField(allow_null=True)
    attempt_count = serializers.IntegerField()
    resources = serializers.DictField(help_text="cpus in cores, memory in bytes, gpus, gpu_type.")
    labels = serializers.DictField()
    kind = serializers.CharField(help_text="The kind of workload: batch.")
    origin = serializers.DictField(
        allow_null=True, help_text="What submitted it for its owner: kind, id, label."
    )
    node = serializers.CharField()
    nodes = serializers.ListField(
        child=serializers.CharField(), help_text="All nodes; `node` is the first."
    )
    cluster = serializers.CharField()
    image = serializers.CharField()
    is_held = serializers.BooleanField()
    page = serializers.CharField()


class LogDeletionSerializer(serializers.Serializer):  # type: ignore[type-arg]
    by = serializers.CharField()
    at = serializers.DateTimeField()
    is_over = serializers.BooleanField()
    done = serializers.IntegerField(
        allow_null=True, help_text="Attempts whose logs are deleted; null once all are."
    )
    total = serializers.IntegerField(allow_null=True)


class OutputVersionSerializer(serializers.Serializer):  # type: ignore[type-arg]
    version = serializers.IntegerField()
    commit = serializers.CharField()
    message = serializers.CharField()
    files = serializers.IntegerField()
    bytes = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    is_latest = serializers.BooleanField()
    is_best = serializers.BooleanField(help_text="Kept by keep.best.")
    metric = serializers.CharField(allow_blank=True, help_text="Of keep.best.")
    value = serializers.FloatField(
        allow_null=True, help_text="Last value of the metric before the version was made."
    )
    tags = serializers.ListField(child=serializers.CharField())


class JobOutputSerializer(serializers.Serializer):  # type: ignore[type-arg]
    name = serializers.CharField()
    index = serializers.IntegerField(help_text="Array task; else 0.")
    kind = serializers.CharField()
    repository = serializers.CharField()
    page = serializers.CharField(allow_null=True, help_text="null until something was saved.")
    every = serializers.IntegerField(help_text="Seconds; 0: only at the end.")
    resume = serializers.CharField()
    keep = serializers.DictField()
    path = serializers.CharField(allow_blank=True)
    state = serializers.CharField(help_text="waiting, saving, saved or failed")
    text = serializers.CharField(allow_blank=True)
    is_resumed = serializers.BooleanField()
    saved_at = serializers.DateTimeField(allow_null=True)
    versions = OutputVersionSerializer(many=True)


class JobPortSerializer(serializers.Serializer):  # type: ignore[type-arg]
    name = serializers.CharField()
    port = serializers.IntegerField(help_text="Where the program listens; MUSTER_PORT_NAME has it.")
    protocol = serializers.CharField(help_text="http (and websockets), tcp")
    access = serializers.CharField(help_text="Who may open it: owner, team.")
    url = serializers.CharField(help_text="For browsers.")
    program_url = serializers.CharField(
        help_text="For programs, which send an access token as `Authorization: Bearer`."
    )
    last_used_at = serializers.DateTimeField(allow_null=True)
    open_streams = serializers.IntegerField(
        help_text="Open websockets and forwarded connections, as reported every 10 s."
    )
    has_answered = serializers.BooleanField(help_text="Whether the program has answered once.")


class JobDetailSerializer(JobSerializer):
    spec = serializers.DictField()
    yaml = serializers.CharField()
    attempts = serializers.ListField(child=serializers.DictField())
    after = serializers.ListField(child=serializers.IntegerField())
    inputs = JobInputSerializer(many=True)
    workspaces = JobWorkspaceSerializer(many=True)
    parent = serializers.IntegerField(allow_null=True)
    cancel_asked_by = serializers.CharField()
    pool = serializers.CharField(allow_null=True)
    place_why = serializers.CharField(help_text="Reason for the placement, if there was a choice.")
    output = serializers.CharField(
        help_text="What becomes of what it writes to MUSTER_OUTPUT_DIR: where it is found, or that it "
        "is lost."
    )
    outputs = JobOutputSerializer(many=True, help_text="With the versions that the job has made.")
    ports = JobPortSerializer(many=True, help_text="Of the first task.")
    log_deletion = LogDeletionSerializer(
        allow_null=True, help_text="null unless deletion of its logs was requested"
    )


class OutputTaskSerializer(serializers.Serializer):  # type: ignore[type-arg]
    index = serializers.IntegerField(default=0, min_value=0, max_value=2**31 - 1)


class OutputReportSerializer(OutputTaskSerializer):
    message = serializers.CharField(default="", allow_blank=True, max_length=2000)
    is_end = serializers.BooleanField(default=False)


class SavedFileSerializer(serializers.Serializer):  # type: ignore[type-arg]
    path = serializers.CharField(max_length=4096, trim_whitespace=False)
    sha256 = serializers.RegexField(r"^[0-9a-f]{64}\Z")


class SavedFilesSerializer(OutputTaskSerializer):
    files = SavedFileSerializer(many=True, max_length=100_000)
    left_out = serializers.ListField(
        child=serializers.CharField(max_length=4096, trim_whitespace=False),
        default=list,
        help_text="Paths that are being written; they keep their last content.",
    )
    cut = SavedFileSerializer(
        many=True,
        max_length=100_000,
        default=list,
        help_text="Files that a killed job was writing. They become a version of their own.",
    )
    note = serializers.CharField(
        default="", allow_blank=True, max_length=2000, help_text="What is not saved, and why."
    )
    is_end = serializers.BooleanField(default=False, help_text="Nothing will follow.")


class OutputPlaceSerializer(serializers.Serializer):  # type: ignore[type-arg]
    kind = serializers.CharField()
    repository = serializers.CharField()
    room = serializers.IntegerField(help_text="Bytes that fit, by quota, disk and size of a file.")


class SavedSerializer(serializers.Serializer):  # type: ignore[type-arg]
    version = serializers.IntegerField(allow_null=True)


class ValidationSerializer(serializers.Serializer):  # type: ignore[type-arg]
    ok = serializers.BooleanField()
    errors = serializers.ListField(child=serializers.DictField())
    notes = serializers.ListField(child=serializers.DictField())
    spec = serializers.DictField(allow_null=True)
    yaml = serializers.CharField(allow_null=True)
    cost = serializers.ListField(
        child=serializers.DictField(),
        help_text="What one task would use, with current usage and limits.",
    )
    price = serializers.DictField(
        allow_null=True,
        help_text="Money for all tasks: hourly, and most until the time limit; null without prices.",
    )
    image = serializers.DictField(
        allow_null=True,
        help_text=(
            "Whether the image fits the nodes: ok, doubtful, text; ok null and text empty: not "
            "known yet. Its registry is asked only if "
            "`settled` was true, in the background: ask again."
        ),
    )
    start = serializers.DictField(
        allow_null=True,
        help_text=(
            "What a submission by the team would answer: ok, starts_now, text, and errors with "
            "field, message and line; null without a team."
        ),
    )
    changes = serializers.ListField(
        child=serializers.DictField(),
        allow_null=True,
        help_text="What differs from the spec of `parent`: field, before, after.",
    )
