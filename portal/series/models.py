"""Series and their chunks. Owners are named by id; callers check access."""

from __future__ import annotations

from django.db import models

LABELS = 500  # maximum length of a series' labels as canonical JSON


class Series(models.Model):
    """One series of an owner ("node:<hex>", "attempt:<hex>", "job:<hex>").

    Written only by `portal.series.store`.
    """

    owner = models.CharField(max_length=60)
    name = models.CharField(max_length=250)
    labels = models.CharField(max_length=LABELS, default="{}")  # canonical JSON
    unit = models.CharField(max_length=20, blank=True)
    org_id = models.UUIDField(null=True)
    last_at = models.BigIntegerField(default=0)  # the latest point: Unix ms, value, step
    last_value = models.FloatField(null=True)  # if it is finite
    # else "NaN", "Infinity" or "-Infinity", because SQLite has no NaN
    last_special = models.CharField(max_length=9, blank=True, db_default="")
    last_step = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "name", "labels"], name="series_once")
        ]

    def __str__(self) -> str:
        return f"{self.owner} {self.name}{self.labels}"


class Chunk(models.Model):
    """A part of a series (`portal.series.points`).

    Few points at a time are appended, raw, to the open chunk of the series until that is full.
    Compaction packs raw chunks, which have no coarse rows.
    """

    series = models.ForeignKey(
        Series, on_delete=models.CASCADE, related_name="chunks", db_index=False
    )
    start_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField()
    count = models.PositiveIntegerField()
    is_open = models.BooleanField(default=True)
    data = models.BinaryField()
    # Extremes of a packed chunk, for long time ranges.
    coarse = models.BinaryField(null=True)
    # Of downsampled points: the length of their periods in ms; 0: as measured.
    step_ms = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        indexes = [
            models.Index(fields=["series", "end_ms"], name="chunk_series"),
            models.Index(fields=["end_ms"], name="chunk_age"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["series"], condition=models.Q(is_open=True), name="chunk_open_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.series_id} {self.start_ms}–{self.end_ms}"


class Batch(models.Model):
    """Values of many series of an owner at the same times, as an agent sent them.

    A node with 100 series at 1 Hz would otherwise change 100 open chunks each second. Compaction
    turns batches into chunks. Written only by `portal.series.batches`.
    """

    owner = models.CharField(max_length=60)
    start_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField()
    count = models.PositiveIntegerField()  # of times
    data = models.BinaryField()

    class Meta:
        indexes = [models.Index(fields=["owner", "end_ms"], name="batch_owner")]

    def __str__(self) -> str:
        return f"{self.owner} {self.start_ms}–{self.end_ms}"


class LatestBatch(models.Model):
    """The last values of the newest batch of an owner, with the names of their series.

    `Series.last_value` follows when batches are compacted.
    """

    owner = models.CharField(max_length=60, primary_key=True)
    at_ms = models.BigIntegerField()
    data = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.owner} {self.at_ms}"
