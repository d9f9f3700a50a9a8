"""Rung 2: what the Metal engine needs of Apple's libraries exists there; each class binds to its own framework."""

import pytest
from metal import mach_o, text_stubs, zig

pytestmark = [
    pytest.mark.skipif(zig.executable() is None, reason=zig.MISSING),
    pytest.mark.skipif(not mach_o.available(), reason=mach_o.MISSING),
]

OURS = "15mpsgraph_native"
# Of the compiler's own library: behind @available.
COMPILER = {"___isPlatformVersionAtLeast"}


def link(objects, output, architecture, directory):
    text_stubs.write(directory / "stubs")
    zig.run(
        *zig.target(architecture),
        "-shared",
        "-undefined",
        "dynamic_lookup",
        *objects,
        *text_stubs.options(directory / "stubs"),
        "-o",
        output,
    )
    return output


@pytest.fixture(scope="module", params=zig.ARCHITECTURES)
def undefined(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp("link")
    library = link(zig.metal_objects(request.param), directory / "engine.dylib", request.param, directory)
    file = mach_o.read(library)
    assert (file.kind, file.architecture) == ("DYLIB", mach_o.APPLE_NAMES[request.param])
    return file.undefined


def test_everything_is_found_but_what_the_core_brings(undefined):
    lost = {name for name, library in undefined.items() if library is None and OURS not in name}
    assert lost <= COMPILER


HOMES = {name: library.install_name for library in text_stubs.libraries() for name in library.classes}


def class_references(undefined):
    return {name: library for name, library in undefined.items() if name.startswith("_OBJC_CLASS_$_")}


def strangers(undefined):
    """Classes that are bound to another library than their own."""
    return {
        name
        for name, library in class_references(undefined).items()
        if library != HOMES[name.removeprefix("_OBJC_CLASS_$_")]
    }


def test_classes_bind_to_their_own_framework(undefined):
    classes = class_references(undefined)
    assert {"_OBJC_CLASS_$_MPSGraph", "_OBJC_CLASS_$_MPSNDArray", "_OBJC_CLASS_$_NSData"} <= classes.keys()
    assert not strangers(undefined)


def test_a_class_that_another_framework_has_is_noticed(tmp_path, monkeypatch):
    name = "MPSGraphTensorData"
    source = tmp_path / "fault.mm"
    source.write_text(
        "#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>\n"
        f"id make() {{ return [{name} alloc]; }}\n"
    )
    fault = zig.compile_object(source, tmp_path / "fault.o", "aarch64")
    library = link([fault], tmp_path / "right.dylib", "aarch64", tmp_path / "right")
    assert f"_OBJC_CLASS_$_{name}" in mach_o.read(library).undefined
    assert not strangers(mach_o.read(library).undefined)

    libraries = text_stubs.libraries()
    for each in libraries:
        each.classes = [other for other in each.classes if other != name]
        if each.install_name.endswith("/Metal"):
            each.classes.append(name)
    monkeypatch.setattr(text_stubs, "libraries", lambda: libraries)
    library = link([fault], tmp_path / "wrong.dylib", "aarch64", tmp_path / "wrong")
    assert strangers(mach_o.read(library).undefined) == {f"_OBJC_CLASS_$_{name}"}


def test_a_class_that_no_framework_has_is_noticed(tmp_path):
    source = tmp_path / "fault.mm"
    source.write_text(
        "#import <Foundation/Foundation.h>\n@interface MPSGraphNoSuchThing : NSObject\n@end\n"
        "id make() { return [MPSGraphNoSuchThing new]; }\n"
    )
    fault = zig.compile_object(source, tmp_path / "fault.o", "aarch64")
    library = link([fault], tmp_path / "fault.dylib", "aarch64", tmp_path)
    assert mach_o.read(library).undefined["_OBJC_CLASS_$_MPSGraphNoSuchThing"] is None
