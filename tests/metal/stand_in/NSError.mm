#include <cstdio>

#include "foundation.hpp"

extern "C" {
extern void (*objcrt_unrecognized)(void*, const char*);
[[noreturn]] void objc_exception_throw(id object);
const char* class_getName(Class cls);
Class object_getClass(id object);
}

NSErrorUserInfoKey const NSLocalizedDescriptionKey = @"NSLocalizedDescription";
NSExceptionName const NSInvalidArgumentException = @"NSInvalidArgumentException";
NSExceptionName const NSRangeException = @"NSRangeException";

@interface NSError () {
  NSString* _domain;
  NSInteger _code;
  NSDictionary* _information;
}
@end
@implementation NSError
+ (instancetype)errorWithDomain:(NSErrorDomain)domain code:(NSInteger)code userInfo:(NSDictionary*)information {
  NSError* error = [[self alloc] init];
  error->_domain = domain;
  error->_code = code;
  error->_information = information;
  return error;
}
- (NSErrorDomain)domain {
  return _domain;
}
- (NSInteger)code {
  return _code;
}
- (NSString*)localizedDescription {
  NSString* description = _information[NSLocalizedDescriptionKey];
  if (description) return description;
  return [NSString stringWithFormat:@"The operation couldn't be completed. (%@ error %ld.)", _domain, _code];
}
- (id)copyWithZone:(NSZone*)zone {
  return self;
}
@end

@interface NSException () {
  NSString* _name;
  NSString* _reason;
}
@end
@implementation NSException
+ (NSException*)exceptionWithName:(NSString*)name reason:(NSString*)reason userInfo:(NSDictionary*)information {
  NSException* exception = [[self alloc] init];
  exception->_name = name;
  exception->_reason = reason;
  return exception;
}
+ (void)raise:(NSString*)name format:(NSString*)format, ... {
  va_list arguments;
  va_start(arguments, format);
  const std::string reason = stand_in::formatted(format.UTF8String, &arguments);
  va_end(arguments);
  [[self exceptionWithName:name reason:stand_in::string(reason) userInfo:nil] raise];
}
- (NSString*)name {
  return _name;
}
- (NSString*)reason {
  return _reason;
}
- (void)raise {
  objc_exception_throw(self);
}
- (id)copyWithZone:(NSZone*)zone {
  return self;
}
@end

void NSLog(NSString* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "%s\n", stand_in::formatted(format.UTF8String, &arguments).c_str());
  va_end(arguments);
}

static void raise_unrecognized(void* object, const char* selector) {
  [NSException raise:NSInvalidArgumentException
              format:@"-[%s %s]: unrecognized selector sent to instance %p",
                     class_getName(object_getClass((__bridge id)object)), selector, object];
}
__attribute__((constructor(300))) static void set_unrecognized_hook() { objcrt_unrecognized = raise_unrecognized; }
