"""Other libraries on the same arrays. Each module has `contenders(row, arrays)` and `set_threads(count)`.

They are imported when they are wanted, in a process whose threads are settled.
"""

import importlib
import importlib.util

NAMES = ("torch", "jax", "mlx")


def load(names):
    """The modules of those peers that are installed, by name, and a note per peer that is not."""
    modules, notes = {}, []
    for name in names:
        if importlib.util.find_spec(name) is None:
            notes.append(f"{name} is not installed: left out")
            continue
        try:
            modules[name] = importlib.import_module(f"peers.{name}_peer")
        except ImportError as error:
            notes.append(f"{name} cannot be imported: left out ({error})")
    return modules, notes
