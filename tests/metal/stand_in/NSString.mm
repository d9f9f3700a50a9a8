#import <Foundation/Foundation.h>

#include <cstdio>
#include <cstring>
#include <functional>

#include "foundation.hpp"

namespace stand_in {
namespace {

std::string formatted_number(const std::string& specification, char conversion, va_list* arguments) {
  char buffer[512] = "";
  const bool wide = specification.find_first_of("lzq") != std::string::npos;
  const auto print = [&](auto value) { std::snprintf(buffer, sizeof buffer, specification.c_str(), value); };
  if (std::strchr("dic", conversion)) {
    wide ? print(va_arg(*arguments, long)) : print(va_arg(*arguments, int));
  } else if (std::strchr("ouxX", conversion)) {
    wide ? print(va_arg(*arguments, unsigned long)) : print(va_arg(*arguments, unsigned));
  } else if (std::strchr("fFeEgGaA", conversion)) {
    print(va_arg(*arguments, double));
  } else if (conversion == 'p') {
    print(va_arg(*arguments, void*));
  }
  return buffer;
}

}  // namespace

NSString* string(const std::string& text) { return [NSString stringWithUTF8String:text.c_str()]; }

std::string formatted(const char* format, va_list* arguments) {
  std::string out;
  while (*format) {
    if (*format != '%') {
      out += *format++;
      continue;
    }
    std::string specification = "%";
    ++format;
    while (*format && !std::strchr("@diouxXcsfFeEgGaAp%", *format)) specification += *format++;
    const char conversion = *format ? *format++ : '%';
    if (conversion == '%') {
      out += '%';
    } else if (conversion == '@') {
      id object = va_arg(*arguments, id);
      out += object ? [object description].UTF8String : "(null)";
    } else if (conversion == 's') {
      const char* text = va_arg(*arguments, const char*);
      out += text ? text : "(null)";
    } else {
      out += formatted_number(specification + conversion, conversion, arguments);
    }
  }
  return out;
}

}  // namespace stand_in

@interface NSString () {
 @public
  std::string _text;
}
@end

@implementation NSString
+ (instancetype)string {
  return [[self alloc] init];
}
+ (instancetype)stringWithUTF8String:(const char*)text {
  return [[self alloc] initWithUTF8String:text];
}
+ (instancetype)stringWithFormat:(NSString*)format, ... {
  va_list arguments;
  va_start(arguments, format);
  const std::string text = stand_in::formatted(format.UTF8String, &arguments);
  va_end(arguments);
  return [[self alloc] initWithUTF8String:text.c_str()];
}
- (instancetype)initWithUTF8String:(const char*)text {
  if ((self = [super init])) _text = text;
  return self;
}
- (const char*)UTF8String {
  return _text.c_str();
}
- (NSUInteger)length {
  return std::strlen(self.UTF8String);
}
- (BOOL)isEqualToString:(NSString*)other {
  return std::strcmp(self.UTF8String, other.UTF8String) == 0;
}
- (BOOL)isEqual:(id)other {
  return [other isKindOfClass:[NSString class]] && [self isEqualToString:other];
}
- (NSUInteger)hash {
  return std::hash<std::string>()(self.UTF8String);
}
- (NSString*)description {
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  return stand_in::string(self.UTF8String);
}
@end

@implementation NSMutableString
- (void)appendString:(NSString*)other {
  _text += other.UTF8String;
}
- (void)appendFormat:(NSString*)format, ... {
  va_list arguments;
  va_start(arguments, format);
  _text += stand_in::formatted(format.UTF8String, &arguments);
  va_end(arguments);
}
@end

/// The class of @"..." as clang lays it out.
@interface NSConstantString : NSString
@end
struct ConstantStringLayout {
  void* isa;
  int flags;
  const char* bytes;
  long length;
};
@implementation NSConstantString
- (const char*)UTF8String {
  return ((__bridge ConstantStringLayout*)self)->bytes;
}
- (id)copyWithZone:(NSZone*)zone {
  return self;
}
@end
__asm__(".globl __CFConstantStringClassReference\n"
        ".set __CFConstantStringClassReference, \"OBJC_CLASS_$_NSConstantString\"\n");
