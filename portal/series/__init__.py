"""Store numeric series: job metrics, node telemetry and training metrics."""

from portal.series.points import Point, SeriesData, SeriesShape

__all__ = [
    "Column",
    "Point",
    "SeriesData",
    "SeriesShape",
    "append",
    "append_batch",
    "canonical",
    "compact",
    "compact_batches",
    "delete",
    "downsample",
    "history",
    "labels_with",
    "last_step",
    "latest",
    "latest_at_least",
    "latest_of",
    "latest_sums",
    "latest_times",
    "names",
    "prune",
    "query",
    "sums_by_period",
]


# Load lazily: models can only be imported once Django is ready.
def __getattr__(name: str):  # type: ignore[no-untyped-def]
    if name in __all__:
        from portal.series import batches, deletion, reading, store

        found = next(
            vars(part)[name] for part in (store, batches, reading, deletion) if name in vars(part)
        )
        globals()[name] = found  # so that this is not called again
        return found
    raise AttributeError(name)
