"""Pictures of the demo's outcome."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from mpsgraph_native.demo.data import Digits
from mpsgraph_native.demo.training import History

__all__ = ["draw_learning_curves", "draw_predictions"]


def draw_learning_curves(histories: Sequence[History], path: Path) -> Path:
    """Training loss and test accuracy by epoch, one column per model."""
    figure, axes = plt.subplots(2, len(histories), figsize=(4.5 * len(histories), 6), squeeze=False, sharex="col")
    for column, history in enumerate(histories):
        epochs = np.arange(1, len(history.loss) + 1)
        axes[0, column].plot(epochs, history.loss, color="tab:blue")
        axes[0, column].set(title=history.title, ylabel="training loss", yscale="log")
        axes[1, column].plot(epochs, history.test_accuracy, color="tab:orange")
        axes[1, column].axhline(0.96, color="grey", linewidth=0.8, linestyle="--")
        axes[1, column].set(xlabel="epoch", ylabel="test accuracy", ylim=(0.5, 1.0))
        axes[1, column].set_title(f"{history.test_accuracy[-1]:.2%} in {history.seconds:.1f} s", fontsize="medium")
    return _save(figure, path)


def draw_predictions(histories: Sequence[History], digits: Digits, path: Path, count: int = 10) -> Path:
    """Test images with the models' answers; those that a model got wrong come first."""
    wrong = np.any([history.predictions != digits.test_labels for history in histories], axis=0)
    shown = np.argsort(~wrong, kind="stable")[:count]
    figure, axes = plt.subplots(2, count // 2, figsize=(1.7 * (count // 2), 4.6))
    for axis, index in zip(axes.ravel(), shown, strict=True):
        axis.imshow(digits.test_images[index], cmap="gray_r")
        axis.axis("off")
        answers = "\n".join(f"{history.title.split()[0]}: {history.predictions[index]}" for history in histories)
        axis.set_title(
            f"is {digits.test_labels[index]}\n{answers}", color="tab:red" if wrong[index] else "black", fontsize="small"
        )
    return _save(figure, path)


def _save(figure: Figure, path: Path) -> Path:
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return path
