"""Train a small neural network on handwritten digits, and log it to the run of the job.

Uses PyTorch (and a GPU, if any) if installed, else NumPy, else only Python 3.9. Trains for
DIGITS_SECONDS (25) or DIGITS_EPOCHS, whichever ends first, and evaluates on held-out digits. It ends
early, as if the time were over, once the file DIGITS_STOP exists. Other settings: DIGITS_RATE (a
factor of the engine's learning rate), DIGITS_SEED, and DIGITS_ENGINE (torch, numpy or plain).

With an output named ckpt (MUSTER_OUTPUT_CKPT) it saves a checkpoint every DIGITS_SAVE_EVERY seconds
(5), and continues from the newest one that it finds there.

On several nodes, PyTorch trains on all of them and the first one reports. The other engines train
on the first node only.
"""

from __future__ import annotations

import importlib
import math
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checkpoints import Checkpoints
from data import Split, load
from metrics import Metrics

ENGINES = ("torch", "numpy", "plain")
LINE_EVERY = 0.25  # seconds between log lines


def main() -> None:
    seconds = float(os.environ.get("DIGITS_SECONDS", "25"))
    epochs = int(os.environ.get("DIGITS_EPOCHS", "1000000"))
    split, metrics = load(), Metrics()
    engine = make_engine(split, int(os.environ.get("DIGITS_SEED", "0")))
    is_well = False
    try:
        work(engine, split, metrics, seconds, epochs)
        is_well = True
    finally:
        if engine.learns_together:
            engine.leave(is_well)


def work(engine: Any, split: Split, metrics: Metrics, seconds: float, epochs: int) -> None:
    if engine.rank > 0:
        follow(engine, seconds, epochs)
        return
    print(
        f"{len(split.train.labels)} digits to learn, {len(split.test.labels)} to be judged by; "
        f"engine: {engine.name}"
    )
    print(metrics.describe(), flush=True)
    metrics.parameters(
        engine=engine.name,
        learning_rate=f"{learning_rate(engine):g}",
        seed=os.environ.get("DIGITS_SEED", "0"),
        seconds=seconds,
    )
    learn(engine, metrics, seconds, epochs)
    metrics.send()
    if metrics.sent:
        print(f"{metrics.sent} points sent to the portal")
    model = engine.save(output_folder())
    print(f"model saved as {model}")
    if metrics.keep(model):
        print("model stored with the run")
    print(f"test accuracy {engine.accuracy():.4f}", flush=True)


def make_engine(split: Split, seed: int) -> Any:
    """Return the first engine whose library is installed."""
    wanted = os.environ.get("DIGITS_ENGINE")
    for name in [wanted] if wanted else ENGINES:
        try:
            return importlib.import_module(f"engine_{name}").Engine(split, seed)
        except ImportError:
            if wanted:
                raise
    raise AssertionError("plain Python is always there")


def learn(engine: Any, metrics: Metrics, seconds: float, epochs: int) -> None:
    """Train with a learning rate that follows a half cosine to zero."""
    rate = learning_rate(engine)
    checkpoints = Checkpoints(float(os.environ.get("DIGITS_SAVE_EVERY", "5")))
    first, before = checkpoints.load(engine)
    began = last_line = time.monotonic()
    print("epoch      loss  accuracy", flush=True)
    for epoch, loss, is_last in passes(engine, rate, seconds, epochs, first, before):
        now = time.monotonic()
        checkpoints.save(engine, epoch, before + now - began, is_last)
        if is_last or epoch == 1 or now - last_line >= LINE_EVERY:
            accuracy = engine.accuracy()
            print(f"{epoch:5d}  {loss:8.4f}  {accuracy:8.4f}", flush=True)
            metrics.report(epoch, loss=loss, accuracy=accuracy)
            last_line = now


def follow(engine: Any, seconds: float, epochs: int) -> None:
    """Train the same epochs as the first node, by its clock."""
    if engine.learns_together:
        for _ in passes(engine, learning_rate(engine), seconds, epochs):
            pass


def learning_rate(engine: Any) -> float:
    return float(engine.rate * float(os.environ.get("DIGITS_RATE", "1")))


def passes(
    engine: Any, rate: float, seconds: float, epochs: int, first: int = 0, before: float = 0.0
) -> Iterator[tuple[int, float, bool]]:
    """Return the epoch's number, its mean loss, and whether it was the last.

    `first` epochs were trained `before`, in so many seconds.
    """
    began = time.monotonic() - before
    done = min(1.0, max(first / epochs, before / seconds))
    for epoch in range(first + 1, epochs + 1):
        loss = engine.train(rate * (1 + math.cos(math.pi * done)) / 2)
        elapsed = engine.agreed(seconds if is_stopped() else time.monotonic() - began)
        done = max(epoch / epochs, min(1.0, elapsed / seconds))
        yield epoch, loss, done >= 1
        if done >= 1:
            return


def is_stopped() -> bool:
    return os.path.exists(os.environ.get("DIGITS_STOP", ""))


def output_folder() -> Path:
    folder = Path(os.environ.get("MUSTER_OUTPUT_DIR") or "out")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


if __name__ == "__main__":
    main()
