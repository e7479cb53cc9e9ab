from jobs.watch.watcher import Watcher

__all__ = ["Watcher"]
