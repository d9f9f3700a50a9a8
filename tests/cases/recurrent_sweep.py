"""A covering design over the recurrent families' flags, activations, optional operands, dtypes and shapes."""

from itertools import combinations, product

import numpy as np
from support import FLOAT_DTYPES, assert_close, seeded

from mpsgraph_native.verify import recurrent
from mpsgraph_native.verify.recurrent import FAMILIES, GRU, LSTM, SINGLE_GATE

__all__ = [
    "ACTIVATIONS",
    "FAMILIES",
    "GRU",
    "LSTM",
    "SINGLE_GATE",
    "Case",
    "as_tuple",
    "assert_nearly_equal",
    "full",
    "smooth",
    "sweep",
]

ACTIVATIONS = ("Sigmoid", "Tanh", "Relu", "HardSigmoid", "None")
SHAPES = ((1, 1, 1, 1), (1, 3, 4, 5), (4, 1, 6, 17), (3, 2, 5, 33), (5, 4, 7, 8), (7, 37, 40, 48))


class Case(recurrent.Case):
    """One row of the design."""

    def close(self, actual, expected):
        value, magnitude, length = self.judged(expected)
        assert_close(actual, value, magnitude=magnitude, length=length, dtype=self.dtype)


def assert_nearly_equal(actual, expected):
    """Equal up to the order in which a kernel may add: for two calls that compute the same numbers."""
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6)


def as_tuple(results):
    return results if isinstance(results, tuple) else (results,)


def pairwise(factors, *, candidates=40):
    """Rows (dictionaries) in which every pair of levels of every two factors occurs: greedy, reproducible."""
    rng = seeded(factors)
    names = list(factors)
    pairs = list(combinations(range(len(names)), 2))
    missing = {(a, b, x, y) for a, b in pairs for x, y in product(factors[names[a]], factors[names[b]])}
    rows = []
    while missing:
        first = min(missing, key=repr)
        best, gain = None, -1
        for _ in range(candidates):
            row = [factors[name][rng.integers(len(factors[name]))] for name in names]
            row[first[0]], row[first[1]] = first[2], first[3]
            covered = sum((a, b, row[a], row[b]) in missing for a, b in pairs)
            if covered > gain:
                best, gain = row, covered
        missing -= {(a, b, best[a], best[b]) for a, b in pairs}
        rows.append(dict(zip(names, best, strict=True)))
    return rows


def sweep(family):
    """The covering design of one family as cases."""
    switches = (*family.optional, *family.final_gradients)
    factors = {name: (False, True) for name in (*family.flags, *switches)}
    factors |= {name: ACTIVATIONS for name in family.activations}
    factors |= {"shape": SHAPES, "dtype": tuple(FLOAT_DTYPES)}
    return [
        Case(
            family=family,
            shape=row["shape"],
            dtype=row["dtype"],
            options={name: row[name] for name in (*family.flags, *family.activations)},
            operands=frozenset(name for name in switches if row[name]),
        )
        for row in pairwise(factors)
    ]


def smooth(family):
    """Small float64 cases of every flag without kinks in the activations, for difference quotients."""
    switches = (*family.optional, *family.final_gradients)
    factors = {name: (False, True) for name in (*family.flags, *switches)}
    factors |= {name: ("Sigmoid", "Tanh") for name in family.activations}
    return [
        Case(
            family=family,
            shape=(3, 2, 2, 3),
            dtype="float64",
            options={name: row[name] for name in (*family.flags, *family.activations)},
            operands=frozenset(name for name in switches if row[name]),
        )
        for row in pairwise(factors)
    ]


def full(family, **overrides):
    """A case with every optional operand."""
    operands = frozenset((*family.optional, *family.final_gradients))
    return Case(**({"family": family, "operands": operands} | overrides))
