// Faults that a build with sanitizers must report; other builds have none of this.
#import <Foundation/Foundation.h>

#include <climits>
#include <thread>

#include "controls.hpp"

namespace {

struct Sum {
  int value = 0;
  __attribute__((noinline)) void add(int other) { value += other; }
};

}  // namespace

/// An object that nobody refers to any more, and nobody released.
STAND_IN_API __attribute__((noinline)) void stand_in_plant_leak(void) {
  for (int i = 0; i < 100; ++i) (void)(__bridge_retained void*)[NSMutableArray arrayWithCapacity:100];
}

STAND_IN_API void stand_in_plant_message_to_the_dead(void) {
  __unsafe_unretained NSObject* object;
  @autoreleasepool {
    NSObject* owner = [NSObject new];
    object = owner;
  }
  [object hash];
}

STAND_IN_API void stand_in_plant_overflow(void) {
  Sum sum;
  sum.add(INT_MAX);
  sum.add(1);
}

STAND_IN_API void stand_in_plant_race(void) {
  Sum sum;
  std::thread other([&] { sum.add(1); });
  sum.add(2);
  other.join();
}
