// Self-test of the small runtime: ARC, weak, blocks, properties, categories, exceptions in both directions.
#import <Foundation/Foundation.h>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
extern "C" long objcrt_live_objects(void);
#define CHECK(x)                                         \
  do {                                                   \
    if (!(x)) {                                          \
      std::printf("FAILED line %d: %s\n", __LINE__, #x); \
      std::exit(1);                                      \
    }                                                    \
  } while (0)
typedef struct {
  unsigned long a, b, c;
} Big;
static int deallocs;
@interface Base : NSObject
@property(nonatomic, copy) int (^fn)(int);
@property(weak) Base* peer;
@property(strong) NSString* label;
@property(class, readonly) int magic;
- (Big)big:(unsigned long)x;
- (double)half:(double)d plus:(float)f;
- (int)who;
@end
@implementation Base {
  std::vector<int> _v;
}
+ (int)magic {
  return 7;
}
- (instancetype)init {
  if ((self = [super init])) _v.assign(100, 3);
  return self;
}
- (void)dealloc {
  deallocs++;
}
- (Big)big:(unsigned long)x {
  return {x, x + 1, x + 2};
}
- (double)half:(double)d plus:(float)f {
  return d / 2 + f;
}
- (int)who {
  return 1;
}
@end
@interface Derived : Base
@property int extra;
@end
@implementation Derived {
  std::string _s;
}
- (int)who {
  return 10 + [super who];
}
- (Big)big:(unsigned long)x {
  Big b = [super big:x];
  b.c = 99;
  return b;
}
@end
@interface Base (Cat)
- (int)fromCategory;
@end
@implementation Base (Cat)
- (int)fromCategory {
  return [self who] * 2;
}
@end
static std::string where(int k) {
  std::string log;
  try {
    @try {
      if (k == 1) @throw [NSException exceptionWithName:@"N" reason:@"r" userInfo:nil];
      if (k == 2) throw std::runtime_error("cpp");
      if (k == 3) @throw @"a string";
      if (k == 4) {
        NSArray* a = @[];
        (void)a[3];
      }
      log += "none ";
    } @catch (NSException* e) {
      log += "ns:";
      log += e.name.UTF8String;
      if (k == 4) @throw;
    } @catch (id o) {
      log += "id:";
      log += [o description].UTF8String;
    } @finally {
      log += " fin";
    }
  } catch (const std::exception& e) {
    log += " std:";
    log += e.what();
  } catch (...) {
    log += " other";
  }
  return log;
}
int main() {
  long before = 0;
  for (int round = 0; round < 2; round++) {
    if (round == 1) before = objcrt_live_objects();
    @autoreleasepool {
      deallocs = 0;
      @autoreleasepool {
        Base* b = [[Base alloc] init];
        Derived* d;
        @autoreleasepool {
          d = [Derived new];
          CHECK(d.who == 11 && [d fromCategory] == 22 && Base.magic == 7);
          Big g = [d big:5];
          CHECK(g.a == 5 && g.b == 6 && g.c == 99);
          CHECK([d half:3.0 plus:0.25f] == 1.75);
          Base* none = nil;
          CHECK([none who] == 0 && [none half:1 plus:1] == 0 && none.label == nil);
          d.extra = 4;
          d.label = @"x";
          CHECK(d.extra == 4 && [d.label isEqual:@"x"]);
          int base = 100;
          d.fn = ^(int i) {
            return i + base;
          };
          CHECK(d.fn(1) == 101);
        }
        b.peer = d;
        @autoreleasepool {
          CHECK(b.peer == d);
        }
        d = nil;
        CHECK(b.peer == nil && deallocs == 1);
        __weak Base* w = b;
        __block int n = 0;
        void (^inc)(void) = ^{
          n++;
          if (w) n++;
        };
        inc();
        inc();
        CHECK(n == 4);
        std::function<void()> f = inc;
        std::thread t(f);
        t.join();
        CHECK(n == 6);
        std::vector<Base*> keep{b, b};
        keep.clear();
        NSMutableDictionary* md = [NSMutableDictionary dictionary];
        md[@"k"] = @1.5;
        md[@"k"] = @2;
        CHECK([md[@"k"] intValue] == 2 && md.count == 1);
        int sum = 0;
        for (NSNumber* x in @[ @1, @2, @3 ]) sum += x.intValue;
        CHECK(sum == 6);
        NSString* s = [NSString stringWithFormat:@"%@-%ld-%.2f-%s", @[ @1 ], 5L, 0.5, "z"];
        CHECK([s isEqualToString:@"(1, )-5-0.50-z"]);
        @synchronized(b) {
          n++;
        }
        CHECK([b respondsToSelector:@selector(who)] && ![b respondsToSelector:@selector(addObject:)]);
        CHECK([(id)b isKindOfClass:[Base class]] && [@"x" conformsToProtocol:@protocol(NSCopying)]);
        bool threw = false;
        @try {
          [(id)b addObject:@1];
        } @catch (NSException* e) {
          threw = [e.reason isKindOfClass:[NSString class]];
        }
        CHECK(threw);
      }
      CHECK(deallocs == 2);
      CHECK(where(0) == "none  fin");
      CHECK(where(1) == "ns:N fin");
      CHECK(where(2) == " fin std:cpp");
      CHECK(where(3) == "id:a string fin");
      CHECK(where(4) == "ns:NSRangeException fin other");
    }
  }
  CHECK(objcrt_live_objects() == before);
  std::puts("runtime self-test ok");
}
