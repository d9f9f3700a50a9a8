"""What a profiled run took, step by step."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

__all__ = ["StepProfile", "table"]


class StepProfile(NamedTuple):
    """One step of Executable.run(..., profile=True)."""

    operation: str  # with its attributes; "program" of an engine that runs its program as a whole
    algorithm: str  # the kernel chosen; empty where there is no choice
    threads: int  # between which the step was split
    nbytes: int  # operands and results, each once
    floating_point_operations: float  # of the formula; 0 where memory is the limit
    seconds: float

    @property
    def gflops(self) -> float:
        """10⁹ floating-point operations of the formula per second; more than the machine has where the algorithm saves some."""
        return self.floating_point_operations / self.seconds * 1e-9 if self.seconds else 0.0

    @property
    def gigabytes_per_second(self) -> float:
        return self.nbytes / self.seconds * 1e-9 if self.seconds else 0.0


def table(steps: Sequence[StepProfile]) -> Iterator[str]:
    """Lines that list the steps, the slowest first."""
    total = sum(step.seconds for step in steps) or 1.0
    yield f"  {'ms':>10} {'share':>6} {'threads':>7} {'GB/s':>7} {'GFLOP/s':>8}  operation"
    for step in sorted(steps, key=lambda step: -step.seconds):
        gflops = f"{step.gflops:8.1f}" if step.floating_point_operations else f"{'':8}"
        algorithm = f" by {step.algorithm}" if step.algorithm else ""
        yield (
            f"  {step.seconds * 1e3:10.4f} {step.seconds / total:6.1%} {step.threads:7} {step.gigabytes_per_second:7.2f} "
            f"{gflops}  {step.operation}{algorithm}"
        )
