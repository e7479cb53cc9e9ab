"""Series and their chunks. No tenant rule stands here: owners are named by id, and who may read one is asked above."""

from __future__ import annotations

from django.db import models

LABELS = 500  # characters of a curve's labels as canonical JSON


class Series(models.Model):
    """One curve of one owner ("node:<hex>", "attempt:<hex>", "job:<hex>"). Written by `portal.series.store` only."""

    owner = models.CharField(max_length=60)
    name = models.CharField(max_length=250)
    labels = models.CharField(max_length=LABELS, default="{}")  # canonical JSON
    unit = models.CharField(max_length=20, blank=True)
    org_id = models.UUIDField(null=True)
    last_at = models.BigIntegerField(default=0)  # the latest point: Unix ms, value, step
    last_value = models.FloatField(null=True)
    last_step = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "name", "labels"], name="series_once")
        ]

    def __str__(self) -> str:
        return f"{self.owner} {self.name}{self.labels}"


class Chunk(models.Model):
    """A stretch of one series, packed (`portal.series.points`). An open chunk is rewritten until it is full."""

    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="chunks")
    start_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField()
    count = models.PositiveIntegerField()
    is_open = models.BooleanField(default=True)
    data = models.BinaryField()
    coarse = models.BinaryField(
        null=True
    )  # of a closed chunk: its extremes, for a look at very many

    class Meta:
        indexes = [
            models.Index(fields=["series", "end_ms"], name="chunk_series"),
            models.Index(fields=["end_ms"], name="chunk_age"),
        ]

    def __str__(self) -> str:
        return f"{self.series_id} {self.start_ms}–{self.end_ms}"
