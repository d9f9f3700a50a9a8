"""Faults planted in the Metal engine, each with the test of rung 3 that catches it.

The changed source is compiled and linked into a copy of the package, and the test run there: it must fail, and pass with
the source as it is. Rung 1 and rung 2 have their own faults, in test_rung1_objects.py and test_rung2_link.py.
"""

import re

import pytest
from metal import mutants
from metal.mutants import Fault
from mps_support import needs_stand_in

pytestmark = [needs_stand_in, pytest.mark.skipif(not mutants.available(), reason=mutants.MISSING)]

FAULTS = {
    "an exception that nothing catches": Fault(
        "executable.mm",
        "guarded([&] { compute(device, inputs, outputs); });",
        "compute(device, inputs, outputs);",
        "tests/metal/test_engine.py::test_an_exception_of_the_frameworks_is_a_device_error",
        "NSException|NSInvalidArgumentException|Fatal Python error|Unknown exception",
    ),
    "an autorelease pool that is missing": Fault(
        "guarded.hpp",
        "  @autoreleasepool {\n    try {",
        "  {\n    try {",
        "tests/metal/test_live_objects.py::test_calls[addition]",
        "assert .*'NSMutableArray'|Differing items",
        source="executable.mm",
    ),
    "a wait that is missing": Fault(
        "executable.mm",
        "    completion->wait();\n",
        "",
        "tests/metal/test_engine.py::test_a_failed_command_buffer_raises_in_the_calling_thread",
        "DID NOT RAISE",
    ),
    "a short read": Fault(
        "buffer.mm",
        "std::memcpy(memory.pooled_.contents, data, memory.bytes_);",
        "std::memcpy(memory.pooled_.contents, data, memory.bytes_ / 2);",
        "tests/metal/test_engine.py::test_memory_beside_pages_is_read_and_written_whole",
        "Mismatched elements",
    ),
    "a short write": Fault(
        "buffer.mm",
        "std::memcpy(destination_, pooled_.contents, bytes_);",
        "std::memcpy(destination_, pooled_.contents, bytes_ - 4);",
        "tests/metal/test_engine.py::test_memory_beside_pages_is_read_and_written_whole",
        "Mismatched elements",
    ),
    "a view of freed memory": Fault(
        "buffer.mm",
        "guarded([&] { views().forget(data, capacity); });",
        "",
        "tests/metal/test_memory.py::test_views_die_with_their_memory",
        r"assert \d+ [<>]= ",
    ),
    "a buffer used after it was freed": Fault(
        "buffer.mm",
        "    std::uintptr_t begin;\n    id<MTLBuffer> buffer;",
        "    std::uintptr_t begin;\n    __unsafe_unretained id<MTLBuffer> buffer;",
        "tests/metal/test_live_objects.py::test_views_are_kept_between_calls",
        "retain of a dead object",
    ),
    "swapped strides of a convolution": Fault(
        "convolution_descriptor.hpp",
        "descriptorWithStrideInX:static_cast<NSUInteger>(x.stride)\n"
        "                                                          strideInY:static_cast<NSUInteger>(y.stride)",
        "descriptorWithStrideInX:static_cast<NSUInteger>(y.stride)\n"
        "                                                          strideInY:static_cast<NSUInteger>(x.stride)",
        "tests/test_convolution.py::test_every_layout",
        "AssertionError|MPSGraph infers",
        source="convolution.mm",
    ),
    "another selector of the same form": Fault(
        "reduction.mm",
        "reductionArgMaximumWithTensor",
        "reductionArgMinimumWithTensor",
        "tests/test_reduction.py::test_arg",
        "AssertionError",
    ),
}


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    return mutants.packages(FAULTS, tmp_path_factory.mktemp("planted"))


@pytest.mark.parametrize("name", FAULTS)
def test_is_caught(name, places):
    fault = FAULTS[name]
    done = mutants.check(places[name], "-x", fault.check)
    assert done.returncode != 0, f"{fault.check} passed"
    output = done.stdout + done.stderr
    assert "no tests ran" not in output and "ERROR" not in output, output
    assert re.search(fault.evidence, output), output


def test_without_the_faults_all_pass(tmp_path):
    """The same way to compile and link, and sources as they are."""
    place = mutants.unchanged_package({fault.compiled for fault in FAULTS.values()}, tmp_path)
    done = mutants.check(place, *{fault.check for fault in FAULTS.values()})
    assert done.returncode == 0, done.stdout + done.stderr
