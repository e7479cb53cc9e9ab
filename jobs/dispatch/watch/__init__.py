from jobs.dispatch.watch.watcher import Watcher

__all__ = ["Watcher"]
