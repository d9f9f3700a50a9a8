"""Rung 1: every source of the Metal engine compiles to Mach-O objects, without an SDK and without a warning."""

import pytest
from metal import generate_declarations, mach_o, zig

pytestmark = [
    pytest.mark.skipif(zig.executable() is None, reason=zig.MISSING),
    pytest.mark.skipif(not mach_o.available(), reason=mach_o.MISSING),
]


def test_the_build_lists_every_source():
    listed = {path.name for path in zig.metal_sources()}
    assert listed == {path.name for path in [*zig.METAL.glob("*.mm"), *zig.METAL.glob("*.cpp")]}


@pytest.mark.parametrize("architecture", zig.ARCHITECTURES)
@pytest.mark.parametrize("source", zig.metal_sources(), ids=lambda path: path.name)
def test_compiles_for_macos(source, architecture):
    output = zig.compiled(source, architecture)
    object_file = mach_o.read(output)
    assert (object_file.kind, object_file.architecture) == ("OBJECT", mach_o.APPLE_NAMES[architecture])


FAULTS = {
    "a selector that does not exist": (
        "MPSGraphTensor* f(MPSGraph* graph, MPSGraphTensor* x) { return [graph reluWithTensor:x name:nil]; }",
        "reluWithTensor:name:",
    ),
    "an argument of another class": (
        "MPSGraphTensor* f(MPSGraph* graph, NSString* x) { return [graph reLUWithTensor:x name:nil]; }",
        "cannot initialize a parameter",
    ),
    "nil where an object is needed": (
        "MPSGraphTensor* f(MPSGraph* graph) { return [graph reLUWithTensor:nil name:nil]; }",
        "Wnonnull",
    ),
    "a method newer than the oldest macOS": (
        "void f(MPSGraphExecutable* e, NSURL* url) { [e serializeToMPSGraphPackageAtURL:url descriptor:nil]; }",
        "macOS 14.0",
    ),
    "what the oldest macOS lacks of libc++": (
        "#include <charconv>\nauto f(char* to, double x) { return std::to_chars(to, to + 32, x); }",
        "introduced in macOS 13.3",
    ),
    "the interface of Accelerate that came later": (
        "#define ACCELERATE_NEW_LAPACK\n#include <Accelerate/Accelerate.h>\nauto f() { return &cblas_sgemm; }",
        "macOS 13.3",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_refuses(fault, tmp_path):
    source, message = FAULTS[fault]
    path = tmp_path / "fault.mm"
    path.write_text(f"#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>\n{source}\n")
    with pytest.raises(AssertionError, match=message):
        zig.compile_object(path, tmp_path / "fault.o", "aarch64")


PLANTED = {
    "a selector that does not exist": ("activation.mm", "reLUWithTensor:", "reluWithTensor:", "reluWithTensor:name:"),
    "a selector of another class": (
        "executable.mm", "[lowered.graph compileWithDevice:", "[device.graph compileWithDevice:", "no visible @interface",
    ),
    "an argument of another class": (
        "device.mm", "deviceWithMTLDevice:found.device.metal]", "deviceWithMTLDevice:found.device.queue]",
        "incompatible type|cannot initialize",
    ),
    "a class that does not exist": (
        "executable.mm", "[MPSGraphExecutableExecutionDescriptor new]", "[MPSGraphRunDescriptor new]",
        "undeclared identifier",
    ),
    "a call without a fence for its macOS": (
        "package_cache.mm", "      if (@available(macOS 14.0, *))\n        [stored", "        [stored", "macOS 14.0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", PLANTED)
def test_refuses_a_fault_planted_in_the_engine(fault, tmp_path):
    """The source as it is compiles: see test_compiles_for_macos."""
    name, right, wrong, message = PLANTED[fault]
    text = (zig.METAL / name).read_text()
    assert text.count(right) == 1
    (tmp_path / name).write_text(text.replace(right, wrong))
    with pytest.raises(AssertionError, match=message):
        zig.compile_object(tmp_path / name, tmp_path / "fault.o", "aarch64")


def test_generated_declarations_are_up_to_date():
    for path, text in generate_declarations.generated().items():
        assert path.read_text() == text, f"{path.name}: run tests/metal/generate_declarations.py"
