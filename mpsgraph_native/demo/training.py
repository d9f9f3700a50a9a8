"""The loop that both models share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mpsgraph_native.demo.data import CLASSES, Digits

__all__ = ["BATCH", "History", "Model", "one_hot", "train"]

BATCH = 32


class Model(Protocol):
    """What can be trained."""

    title: str

    def set_epoch(self, epoch: int, epochs: int) -> None: ...

    def step(self, images: np.ndarray, labels: np.ndarray) -> float: ...

    def predict(self, images: np.ndarray) -> np.ndarray: ...


@dataclass
class History:
    """What a training run left behind."""

    title: str
    loss: list[float] = field(default_factory=list)
    test_accuracy: list[float] = field(default_factory=list)
    predictions: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    steps: int = 0
    seconds: float = 0.0


def one_hot(labels: np.ndarray) -> np.ndarray:
    """Labels [N] as rows of zeros with a one, [N, CLASSES]."""
    rows: np.ndarray = np.eye(CLASSES, dtype=np.float32)[labels]
    return rows


def _batches(count: int, rng: np.random.Generator) -> Sequence[np.ndarray]:
    """Shuffled index batches, all of one size so that one executable serves them; the rest waits for the next epoch."""
    order = rng.permutation(count)
    return [order[start : start + BATCH] for start in range(0, count - BATCH + 1, BATCH)]


def train(model: Model, digits: Digits, epochs: int, console: Console) -> History:
    """Trains `model` and follows its loss and test accuracy."""
    rng = np.random.default_rng(0)
    history = History(model.title)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]:.4f}  test accuracy {task.fields[accuracy]:.2%}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(model.title, total=epochs, loss=float("nan"), accuracy=0.0)
        for epoch in range(epochs):
            model.set_epoch(epoch, epochs)
            losses = [
                model.step(digits.train_images[batch], one_hot(digits.train_labels[batch]))
                for batch in _batches(len(digits.train_images), rng)
            ]
            history.steps += len(losses)
            history.loss.append(float(np.mean(losses)))
            history.predictions = model.predict(digits.test_images)
            history.test_accuracy.append(float(np.mean(history.predictions == digits.test_labels)))
            progress.update(task, advance=1, loss=history.loss[-1], accuracy=history.test_accuracy[-1])
    return history
