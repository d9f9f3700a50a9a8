"""Writes text stubs of Apple's libraries with the names in use: which library exports what, nothing of its contents.

They lie where an SDK has them, so that a linker finds them as it does on a Mac."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from metal import zig

SYSTEM = "/System/Library/Frameworks"
METAL = ("Metal", "MetalPerformanceShaders", "MetalPerformanceShadersGraph")


@dataclass
class Library:
    path: str
    install_name: str
    symbols: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    exception_types: list[str] = field(default_factory=list)
    reexports: list[str] = field(default_factory=list)

    def text(self):
        targets = "[ x86_64-macos, arm64-macos ]"
        lines = ["--- !tapi-tbd", "tbd-version: 4", f"targets: {targets}", f"install-name: '{self.install_name}'"]
        if self.reexports:
            lines += [
                "reexported-libraries:",
                f"  - targets: {targets}",
                f"    libraries: [ {', '.join(self.reexports)} ]",
            ]
        lines += ["exports:", f"  - targets: {targets}"]
        for key, names in (
            ("symbols", self.symbols),
            ("objc-classes", self.classes),
            ("objc-eh-types", self.exception_types),
        ):
            if names:
                lines.append(f"    {key}: [ {', '.join(names)} ]")
        return "\n".join([*lines, "...", ""])


def framework(name, version="A", **exports):
    path = f"{SYSTEM[1:]}/{name}.framework/Versions/{version}/{name}.tbd"
    return Library(path, f"{SYSTEM}/{name}.framework/Versions/{version}/{name}", **exports)


def declared(folder):
    """Classes and, with their leading underscore, functions and constants that a folder of declarations has."""
    text = "\n".join(path.read_text() for path in sorted((zig.DECLARATIONS / folder).glob("*.h")))
    classes = re.findall(r"^@interface (\w+)[ <].*:", text, re.MULTILINE)
    exported = re.findall(r"^FOUNDATION_EXPORT [^;]*?(\w+)(?:\(|;)", text, re.MULTILINE)
    return classes, [f"_{name}" for name in exported]


RUNTIME = """
__objc_empty_cache __objc_personality_v0 _objc_alloc _objc_alloc_init _objc_autorelease _objc_autoreleasePoolPop
_objc_autoreleasePoolPush _objc_autoreleaseReturnValue _objc_begin_catch _objc_claimAutoreleasedReturnValue
_objc_copyWeak _objc_destroyWeak _objc_ehtype_vtable _objc_end_catch _objc_enumerationMutation _objc_exception_rethrow
_objc_exception_throw _objc_getProperty _objc_initWeak _objc_loadWeakRetained _objc_moveWeak _objc_msgSend
_objc_msgSendSuper2 _objc_opt_class _objc_opt_isKindOfClass _objc_opt_new _objc_opt_respondsToSelector _objc_opt_self
_objc_release _objc_retain _objc_retainAutorelease _objc_retainAutoreleaseReturnValue
_objc_retainAutoreleasedReturnValue _objc_retainBlock _objc_setProperty_atomic _objc_setProperty_atomic_copy
_objc_setProperty_nonatomic _objc_setProperty_nonatomic_copy _objc_storeStrong _objc_storeWeak _objc_sync_enter
_objc_sync_exit _objc_terminate _objc_unsafeClaimAutoreleasedReturnValue _OBJC_EHTYPE_id
""".replace("__objc_personality_v0", "___objc_personality_v0").split()
# Entry points that name a register.
RUNTIME += [f"_objc_{verb}_x{i}" for verb in ("retain", "release") for i in range(29) if i not in (16, 17, 18)]

CORE_FOUNDATION_CLASSES = {
    "NSArray",
    "NSData",
    "NSDictionary",
    "NSException",
    "NSMutableArray",
    "NSMutableDictionary",
    "NSURL",
}
CORE_FOUNDATION_SYMBOLS = ["_NSInvalidArgumentException", "_NSRangeException"]
LIBOBJC = "/usr/lib/libobjc.A.dylib"


def libraries():
    classes, symbols = declared("Foundation")
    core_foundation = framework(
        "CoreFoundation",
        classes=sorted(CORE_FOUNDATION_CLASSES),
        exception_types=["NSException"],
        symbols=[
            *CORE_FOUNDATION_SYMBOLS,
            "___CFConstantStringClassReference",
            "___NSArray0__",
            "___NSDictionary0__",
        ],
        reexports=[LIBOBJC],
    )
    foundation = framework(
        "Foundation",
        "C",
        classes=[name for name in classes if name not in CORE_FOUNDATION_CLASSES | {"NSObject"}],
        symbols=[name for name in symbols if name not in CORE_FOUNDATION_SYMBOLS],
        reexports=[core_foundation.install_name, LIBOBJC],
    )
    result = [
        core_foundation,
        foundation,
        Library("usr/lib/libobjc.A.tbd", LIBOBJC, classes=["NSObject"], symbols=RUNTIME),
        framework("Accelerate", symbols=["_cblas_sgemm", "_cblas_dgemm"]),
    ]
    for name in METAL:
        classes, symbols = declared(name)
        result.append(framework(name, classes=classes, symbols=symbols))
    return result


def write(directory):
    """Writes the stubs, laid out as in an SDK."""
    for library in libraries():
        path = directory / library.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(library.text())
        if library.install_name.startswith(SYSTEM):
            link = directory / SYSTEM[1:] / f"{path.stem}.framework" / path.name
            link.unlink(missing_ok=True)
            link.symlink_to(path.relative_to(link.parent))


def options(directory):
    """What links against the stubs written there."""
    frameworks = [Path(library.path).stem for library in libraries() if library.install_name.startswith(SYSTEM)]
    return [
        *("-F", directory / SYSTEM[1:], "-L", directory / "usr/lib", "-lobjc.A"),
        *(argument for name in frameworks for argument in ("-framework", name)),
    ]
