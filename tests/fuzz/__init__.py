"""Drawn inputs: valid problems with the float64 reference as judge, and calls of every kind that must not end the process.

Each run of the suite draws a few, always the same. By hand, as many as wanted, from a seed:

    pytest tests/fuzz --hypothesis-profile=long --hypothesis-seed=1 --hypothesis-show-statistics -n auto

Hypothesis prints what fails in its smallest form. Where a process ends, the name of the test is known, and the same seed
leads there again.
"""
