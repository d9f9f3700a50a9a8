// The root class and the classes that clang refers to. Compiled without ARC.
#import <Foundation/Foundation.h>

#include <cstdint>

extern "C" {
id class_createInstance(Class cls, size_t extra);
void object_dispose(id object);
Class object_getClass(id object);
bool objcrt_kind_of(Class cls, Class kind);
bool objcrt_conforms(Class cls, void* protocol);
bool class_respondsToSelector(Class cls, SEL selector);
const char* class_getName(Class cls);
}

@implementation NSObject
+ (void)load {
}
+ (void)initialize {
}
+ (instancetype)alloc {
  return class_createInstance((Class)self, 0);
}
+ (instancetype)new {
  return [[self alloc] init];
}
- (instancetype)init {
  return self;
}
- (void)dealloc {
  object_dispose(self);
}
- (id)copy {
  return [(id<NSCopying>)self copyWithZone:nullptr];
}
+ (Class)class {
  return (Class)self;
}
- (Class)class {
  return object_getClass(self);
}
- (BOOL)isEqual:(id)other {
  return self == other;
}
- (NSUInteger)hash {
  return (uintptr_t)self >> 4;
}
- (BOOL)isKindOfClass:(Class)cls {
  return objcrt_kind_of(object_getClass(self), cls);
}
- (BOOL)conformsToProtocol:(Protocol*)protocol {
  return objcrt_conforms(object_getClass(self), (void*)protocol);
}
- (BOOL)respondsToSelector:(SEL)selector {
  return class_respondsToSelector(object_getClass(self), selector);
}
+ (id)standInNothing {
  return nil;
}
- (id)standInNothing {
  return nil;
}
- (NSString*)description {
  return [NSString stringWithFormat:@"<%s: %p>", class_getName(object_getClass(self)), (void*)self];
}
@end

@interface NSBlock : NSObject
@end
@implementation NSBlock
@end

/// The class of what @protocol() gives.
@interface Protocol : NSObject
@end
@implementation Protocol
@end
