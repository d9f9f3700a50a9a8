"""Two classifiers of handwritten digits, trained with this package's gradient operations alone."""

import time
from argparse import Namespace
from pathlib import Path

from rich.console import Console

import mpsgraph_native as mg
from mpsgraph_native.demo import convolutional, pictures, recurrent
from mpsgraph_native.demo.data import load_digits
from mpsgraph_native.demo.training import train

__all__ = ["main"]

REQUIRED_ACCURACY = 0.96


def main(arguments: Namespace) -> int:
    """Runs the demo; gives the exit status."""
    console = Console()
    device = arguments.device or mg.default_device().name
    engine = next((entry for entry in mg.devices() if entry.name == device and entry.available), None)
    if engine is None:
        raise mg.DeviceError(
            f"device must be one of those that `mpsgraph-native info` lists as available, got {device}"
        )
    console.print(f"engine: [bold]{engine.name}[/] ({engine.description})")
    digits = load_digits()
    console.print(
        f"data: {len(digits.train_images)} images of digits to train on, {len(digits.test_images)} held out for the test"
    )

    output = Path(arguments.output)
    output.mkdir(parents=True, exist_ok=True)
    histories = []
    for model, epochs in (
        (convolutional.ConvolutionalNetwork(device), 3 if arguments.short else 20),
        (recurrent.GRUClassifier(device), 3 if arguments.short else 60),
    ):
        start = time.perf_counter()
        history = train(model, digits, epochs, console)
        history.seconds = time.perf_counter() - start
        histories.append(history)
        console.print(
            f"{history.title}: test accuracy [bold]{history.test_accuracy[-1]:.2%}[/] after {epochs} epochs "
            f"in {history.seconds:.1f} s ({history.steps / history.seconds:.0f} steps/s)"
        )

    curves = pictures.draw_learning_curves(histories, output / "learning_curves.png")
    predictions = pictures.draw_predictions(histories, digits, output / "predictions.png")
    console.print(f"pictures: {curves}, {predictions}")
    cache = mg.cache_info()
    console.print(
        f"executable cache: {cache.entries} entries, {cache.hits} hits, {cache.misses} misses, "
        f"{cache.compile_seconds * 1e3:.1f} ms spent compiling"
    )
    if arguments.short:
        return 0
    missed = [history.title for history in histories if history.test_accuracy[-1] < REQUIRED_ACCURACY]
    for title in missed:
        console.print(f"[red]{title} stayed below {REQUIRED_ACCURACY:.0%}[/]")
    return 1 if missed else 0
