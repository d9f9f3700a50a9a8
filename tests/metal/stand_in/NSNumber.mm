#import <Foundation/Foundation.h>

#include <functional>

namespace {
enum class Kind { Signed, Unsigned, Floating };
}

@implementation NSValue
- (id)copyWithZone:(NSZone*)zone {
  return self;
}
@end

@interface NSNumber () {
 @public
  Kind _kind;
  long long _integer;
  double _floating;
}
@end

static NSNumber* number(Kind kind, long long integer, double floating) {
  NSNumber* result = [NSNumber new];
  result->_kind = kind;
  result->_integer = integer;
  result->_floating = floating;
  return result;
}

@implementation NSNumber
+ (NSNumber*)numberWithChar:(char)value {
  return number(Kind::Signed, value, value);
}
+ (NSNumber*)numberWithShort:(short)value {
  return number(Kind::Signed, value, value);
}
+ (NSNumber*)numberWithInt:(int)value {
  return number(Kind::Signed, value, value);
}
+ (NSNumber*)numberWithUnsignedInt:(unsigned)value {
  return number(Kind::Unsigned, value, value);
}
+ (NSNumber*)numberWithLong:(long)value {
  return number(Kind::Signed, value, static_cast<double>(value));
}
+ (NSNumber*)numberWithUnsignedLong:(unsigned long)value {
  return number(Kind::Unsigned, static_cast<long long>(value), static_cast<double>(value));
}
+ (NSNumber*)numberWithLongLong:(long long)value {
  return number(Kind::Signed, value, static_cast<double>(value));
}
+ (NSNumber*)numberWithUnsignedLongLong:(unsigned long long)value {
  return number(Kind::Unsigned, static_cast<long long>(value), static_cast<double>(value));
}
+ (NSNumber*)numberWithFloat:(float)value {
  return number(Kind::Floating, static_cast<long long>(value), value);
}
+ (NSNumber*)numberWithDouble:(double)value {
  return number(Kind::Floating, static_cast<long long>(value), value);
}
+ (NSNumber*)numberWithBool:(BOOL)value {
  return number(Kind::Signed, value, value);
}
+ (NSNumber*)numberWithInteger:(NSInteger)value {
  return number(Kind::Signed, value, static_cast<double>(value));
}
+ (NSNumber*)numberWithUnsignedInteger:(NSUInteger)value {
  return number(Kind::Unsigned, static_cast<long long>(value), static_cast<double>(value));
}
- (int)intValue {
  return static_cast<int>(_integer);
}
- (long long)longLongValue {
  return _integer;
}
- (unsigned long long)unsignedLongLongValue {
  return static_cast<unsigned long long>(_integer);
}
- (NSInteger)integerValue {
  return _integer;
}
- (NSUInteger)unsignedIntegerValue {
  return static_cast<NSUInteger>(_integer);
}
- (double)doubleValue {
  return _floating;
}
- (float)floatValue {
  return static_cast<float>(_floating);
}
- (BOOL)boolValue {
  return _floating != 0;
}
- (NSComparisonResult)compare:(NSNumber*)other {
  if (_floating < other->_floating) return NSOrderedAscending;
  return _floating > other->_floating ? NSOrderedDescending : NSOrderedSame;
}
- (BOOL)isEqualToNumber:(NSNumber*)other {
  return _floating == other->_floating && _integer == other->_integer;
}
- (BOOL)isEqual:(id)other {
  return [other isKindOfClass:[NSNumber class]] && [self isEqualToNumber:other];
}
- (NSUInteger)hash {
  return std::hash<double>()(_floating);
}
- (NSString*)description {
  if (_kind == Kind::Floating) return [NSString stringWithFormat:@"%g", _floating];
  return [NSString stringWithFormat:@"%ld", static_cast<long>(_integer)];
}
@end
