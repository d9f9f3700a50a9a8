"""The Objective-C runtime under the stand-in: what it promises, and that faults in its use do not pass unseen.

It runs where the package was built with the stand-in, and with the same compiler.
"""

import re

import pytest
from metal import programs
from mps_support import needs_stand_in

pytestmark = needs_stand_in

SANITIZERS = ["", "address,undefined"]
SELF_TEST = programs.METAL / "runtime" / "self_test.mm"


@pytest.mark.parametrize("sanitizers", SANITIZERS, ids=["plain", "address,undefined"])
def test_self_test(sanitizers, tmp_path):
    done = programs.execute(programs.build(SELF_TEST, tmp_path, sanitizers))
    assert (done.returncode, done.stdout) == (0, "runtime self-test ok\n"), done.stderr


PROGRAM = """
#import <Foundation/Foundation.h>
extern "C" long objcrt_live_objects(void);
@interface Thing : NSObject {
 @public
  int _value;
}
@end
@implementation Thing
@end
@interface Thing (Undefined)
- (int)missing;
@end
static Thing* __strong kept;
static void use(Thing* thing) { kept = thing; kept = nil; }
int main() {
  @autoreleasepool {
    [Thing new];
    (void)[NSString stringWithUTF8String:"made before anything is counted"];
  }
  const long before = objcrt_live_objects();
  { BODY }
  return objcrt_live_objects() == before ? 0 : 3;
}
"""

# For each fault what is right, what is wrong, with which sanitizers, and what the runtime or the sanitizer says.
FAULTS = {
    "use after free of an instance variable": (
        "Thing* thing = [Thing new]; int* value = &thing->_value; *value = 1; thing = nil;",
        "Thing* thing = [Thing new]; int* value = &thing->_value; thing = nil; *value = 1;",
        "address,undefined",
        "heap-use-after-free",
    ),
    "a message to a dead object": (
        "Thing* thing = [Thing new]; (void)[thing hash]; thing = nil;",
        "__unsafe_unretained Thing* thing = [Thing new]; (void)[thing hash];",
        "address,undefined",
        "heap-use-after-free",
    ),
    "a retain of a dead object": (
        "Thing* thing = [Thing new]; use(thing);",
        "__unsafe_unretained Thing* thing = [Thing new]; use(thing);",
        "",
        "objcrt: retain of a dead object",
    ),
    "an over-release": (
        "@autoreleasepool { void* thing = (__bridge_retained void*)[Thing new]; (void)(__bridge_transfer id)thing; }",
        "@autoreleasepool { Thing* thing = [Thing new]; (void)(__bridge_transfer id)(__bridge void*)thing; }",
        "",
        "objcrt: release of a dead object",
    ),
    "an autorelease without a pool": (
        '@autoreleasepool { (void)[NSString stringWithUTF8String:"a string that is long enough"]; }',
        '(void)[NSString stringWithUTF8String:"a string that is long enough"];',
        "",
        3,
    ),
    "a leaked object": (
        "void* thing = (__bridge_retained void*)[Thing new]; (void)(__bridge_transfer id)thing;",
        "(void)(__bridge_retained void*)[Thing new];",
        "",
        3,
    ),
    "a leaked block": (
        "int n = 1; void (^block)(void) = ^{ (void)n; }; block();",
        "int n = 1; (void)(__bridge_retained void*)^{ (void)n; };",
        "",
        3,
    ),
    "an exception that nobody catches": (
        '@autoreleasepool { @try { [NSException raise:@"Planted" format:@"x"]; } @catch (NSException*) { } }',
        '@autoreleasepool { [NSException raise:@"Planted" format:@"x"]; }',
        "",
        "terminate called",
    ),
    "a selector that no class has": (
        "@autoreleasepool { @try { (void)[[Thing new] missing]; } @catch (NSException*) { } }",
        "@autoreleasepool { @try { (void)[[Thing new] missing]; } @catch (NSString*) { } }",
        "",
        "terminate called",
    ),
}


def outcome(body, directory, sanitizers):
    source = directory / "program.mm"
    source.write_text(PROGRAM.replace("BODY", body))
    return programs.execute(programs.build(source, directory, sanitizers))


@pytest.mark.parametrize("fault", FAULTS)
def test_fault(fault, tmp_path):
    right, wrong, sanitizers, expected = FAULTS[fault]
    done = outcome(right, tmp_path, sanitizers)
    assert done.returncode == 0, done.stderr
    done = outcome(wrong, tmp_path, sanitizers)
    if isinstance(expected, int):
        assert done.returncode == expected, done.stderr
    else:
        assert done.returncode != 0
        assert re.search(expected, done.stderr), done.stderr
