"""The rows of the comparison, by family: operations, sizes, operands and this package's own calls."""

from . import convolution, pooling, recurrent
from .convolution import ConvolutionRow
from .pooling import PoolingRow
from .recurrent import RecurrentRow
from .row import Contender, Row

__all__ = ["Contender", "ConvolutionRow", "PoolingRow", "RecurrentRow", "Row", "all_rows"]


def all_rows():
    for family in (convolution, pooling, recurrent):
        yield from family.rows()
