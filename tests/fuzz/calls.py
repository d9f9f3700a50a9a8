"""What calls are made of, right or wrong, and what may come of them."""

from hypothesis import strategies as st

import mpsgraph_native as mg

# What a caller may have to catch. TypeError alone is Python's own word for a missing or unknown argument.
REFUSALS = (mg.MPSGraphError, BufferError)

ENORMOUS = (2**31 - 1, 2**31, -(2**31), 2**32 + 1, 2**63 - 1, 2**63, -(2**63), 10**30)
integers = st.one_of(st.integers(0, 4), st.integers(-2, 9), st.sampled_from(ENORMOUS))
