"""The handwritten digits that scikit-learn ships: 1,797 images of 8×8 pixels."""

from dataclasses import dataclass

import numpy as np
from sklearn import datasets
from sklearn.model_selection import train_test_split

__all__ = ["CLASSES", "Digits", "load_digits"]

CLASSES = 10


@dataclass(frozen=True)
class Digits:
    """Images [N, 8, 8] in [0, 1] and their labels [N]."""

    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray


def load_digits() -> Digits:
    """A fixed, stratified split that holds out a fifth."""
    images, labels = datasets.load_digits(return_X_y=True)
    images = (images.reshape(-1, 8, 8) / 16).astype(np.float32)
    train_images, test_images, train_labels, test_labels = train_test_split(
        images, labels, test_size=0.2, stratify=labels, random_state=0
    )
    return Digits(train_images, train_labels, test_images, test_labels)
