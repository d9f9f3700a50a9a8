"""The loop that both models share."""

from dataclasses import dataclass, field

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mpsgraph_native.demo.data import CLASSES

__all__ = ["BATCH", "History", "one_hot", "train"]

BATCH = 32


@dataclass
class History:
    """What a training run left behind."""

    title: str
    loss: list = field(default_factory=list)
    test_accuracy: list = field(default_factory=list)
    predictions: np.ndarray = None
    steps: int = 0
    seconds: float = 0.0


def one_hot(labels):
    """Labels [N] as rows of zeros with a one, [N, CLASSES]."""
    return np.eye(CLASSES, dtype=np.float32)[labels]


def _batches(count, rng):
    """Shuffled index batches, all of one size so that one executable serves them; the rest waits for the next epoch."""
    order = rng.permutation(count)
    return [order[start : start + BATCH] for start in range(0, count - BATCH + 1, BATCH)]


def train(model, digits, epochs, console):
    """Trains `model` (step, predict, set_epoch, title) and follows its loss and test accuracy."""
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
