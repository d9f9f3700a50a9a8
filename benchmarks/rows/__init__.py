"""The rows of the comparison, by family: operations, sizes, operands and this package's own calls."""

from . import convolution, pooling, recurrent
from .convolution import ConvolutionRow
from .pooling import PoolingRow
from .recurrent import RecurrentRow
from .row import Contender, Row

__all__ = ["Contender", "ConvolutionRow", "PoolingRow", "RecurrentRow", "Row", "all_rows", "selected"]


def all_rows():
    for family in (convolution, pooling, recurrent):
        yield from family.rows()


def selected(words):
    """The rows whose name holds one of the words; without words all."""
    return [row for row in all_rows() if not words or any(word in row.name for word in words)]
