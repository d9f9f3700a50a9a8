"""The cases: every operation on seeded data, beside its float64 reference."""

from mpsgraph_native.verify.table import convolution, elementwise, linear, pooling, recurrent
from mpsgraph_native.verify.table.case import Case, Problem

__all__ = ["Case", "Problem", "cases"]


def cases(*, quick=False):
    """Every case, or those of the short run, in the order of the documentation."""
    for family in (convolution, pooling, recurrent, linear, elementwise):
        yield from (case for case in family.cases() if case.quick or not quick)
