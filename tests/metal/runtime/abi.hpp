#pragma once

// Apple's (macosx, non-fragile) Objective-C ABI on ELF, as clang -fobjc-runtime=macosx writes it. Objects carry a
// reference count in a 16-byte header before isa.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

extern "C" {
typedef struct objc_class* Class;
typedef struct objc_object {
  Class isa;
}* id;
typedef const char* SEL;
typedef void (*IMP)(void);

struct method_t {
  SEL name;
  const char* types;
  IMP imp;
};
struct method_list {
  uint32_t entsize, count;
  method_t m[1];
};
struct ivar_t {
  int32_t* offset;
  const char* name;
  const char* type;
  uint32_t align, size;
};
struct ivar_list {
  uint32_t entsize, count;
  ivar_t v[1];
};
struct protocol_t {
  void* isa;
  const char* name;
  struct protocol_list* protocols;
};
struct protocol_list {
  uintptr_t count;
  protocol_t* p[1];
};
struct class_ro {
  uint32_t flags, instanceStart, instanceSize, reserved;
  const uint8_t* ivarLayout;
  const char* name;
  method_list* methods;
  protocol_list* protocols;
  ivar_list* ivars;
  const uint8_t* weakIvarLayout;
  void* properties;
};
struct objc_class {
  Class isa;
  Class superclass;
  void* cache;
  void* vtable;
  class_ro* ro;
};
struct category_t {
  const char* name;
  Class cls;
  method_list* inst;
  method_list* meta;
  protocol_list* protocols;
};
struct objc_super {
  id receiver;
  Class current;
};

void* _Block_copy(const void*);
void _Block_release(const void*);
Class objc_getClass(const char*);
id objc_msgSend(id, SEL, ...);
id objc_retain(id);
void objc_release(id);
id objc_retainBlock(id);
id objc_retainAutorelease(id);
bool objcrt_kind_of(Class c, Class k);
bool class_respondsToSelector(Class c, SEL s);
extern void* _NSConcreteStackBlock[32];
extern void* _NSConcreteGlobalBlock[32];
extern void* _NSConcreteMallocBlock[32];
extern std::atomic<long> objcrt_live_blocks;                   // on the heap
extern void (*objcrt_unrecognized)(void*, const char*);        // set by Foundation: raises NSInvalidArgumentException
extern std::atomic<bool (*)(const char*)> objcrt_unavailable;  // selectors that the pretended system lacks
extern std::atomic<SEL (*)(SEL)> objcrt_replacement;           // the selector whose method answers instead
}

namespace objcrt {

enum : uint32_t { RO_META = 1, RO_HAS_CXX = 4 };
struct Header {
  std::atomic<int64_t> rc;
  int32_t magic;
  std::atomic<bool> weakly_referenced;  // once so, always so
};
static_assert(sizeof(Header) == 16);
constexpr int32_t kMagic = 0x4f424a43, kDead = 0x64656164;
inline Header* header(id o) { return reinterpret_cast<Header*>(o) - 1; }

// Where threads meet here they must meet on Apple's system too: an order that only this runtime gives would hide races
// of its users from the thread sanitizer. So lookups share their lock, counters are relaxed, and objects without weak
// references die without the lock of the table.
struct State {
  std::shared_mutex mu;
  std::unordered_map<std::string, const char*> sels;
  std::unordered_map<std::string, Class> classes;
  std::unordered_set<Class> realized;
  std::unordered_map<Class, std::unordered_map<SEL, IMP>> methods;  // own methods of each class, categories merged
  std::unordered_map<Class, std::vector<protocol_list*>> protos;
  std::mutex weak_mu;
  std::unordered_multimap<id, id*> weak;
  std::recursive_mutex sync_mu;
  std::unordered_map<Class, std::atomic<long>> live;  // objects by class; a class enters when it is realized
};
State& S();

bool is_block(id o);
bool immortal(id o);  // literals and class objects
Class isa_of(id o);
IMP find(Class c, SEL s);
IMP own(Class c, SEL s);
bool hidden(SEL s);
void count_live(Class c, long change);
SEL known(const char* n);
[[noreturn]] void die(const char* what, const void* o);

}  // namespace objcrt
