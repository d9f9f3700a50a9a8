#include "foundation.hpp"

extern "C" const char* class_getName(Class cls);

namespace stand_in {

void require_object(id object, const char* method) {
  if (object == nil) {
    [NSException raise:NSInvalidArgumentException format:@"*** %s: attempt to insert nil object", method];
  }
}

NSUInteger enumerate(NSFastEnumerationState* state, id __unsafe_unretained* buffer, NSUInteger capacity,
                     const std::vector<id>& items, unsigned long* mutations) {
  if (state->state == 0) state->mutationsPtr = mutations;
  NSUInteger count = 0;
  while (count < capacity && state->state < items.size()) buffer[count++] = items[state->state++];
  state->itemsPtr = buffer;
  return count;
}

}  // namespace stand_in

@implementation NSArray
+ (instancetype)array {
  return [[self alloc] init];
}
+ (instancetype)arrayWithObjects:(const id[])objects count:(NSUInteger)count {
  NSArray* array = [[self alloc] init];
  for (NSUInteger i = 0; i < count; ++i) {
    stand_in::require_object(objects[i], "-[__NSPlaceholderArray initWithObjects:count:]");
    array->_items.push_back(objects[i]);
  }
  return array;
}
- (NSUInteger)count {
  return _items.size();
}
- (id)objectAtIndex:(NSUInteger)index {
  if (index >= _items.size()) {
    [NSException raise:NSRangeException
                format:@"*** -[%s objectAtIndex:]: index %lu beyond bounds [0 .. %ld]", class_getName([self class]),
                       static_cast<unsigned long>(index), static_cast<long>(_items.size()) - 1];
  }
  return _items[index];
}
- (id)objectAtIndexedSubscript:(NSUInteger)index {
  return [self objectAtIndex:index];
}
- (id)firstObject {
  return _items.empty() ? nil : _items.front();
}
- (id)lastObject {
  return _items.empty() ? nil : _items.back();
}
- (BOOL)isEqualToArray:(NSArray*)other {
  if (_items.size() != other->_items.size()) return NO;
  for (std::size_t i = 0; i < _items.size(); ++i) {
    if (![_items[i] isEqual:other->_items[i]]) return NO;
  }
  return YES;
}
- (BOOL)isEqual:(id)other {
  return [other isKindOfClass:[NSArray class]] && [self isEqualToArray:other];
}
- (NSUInteger)hash {
  return _items.size();
}
- (id)copyWithZone:(NSZone*)zone {
  NSArray* array = [NSArray new];
  array->_items = _items;
  return array;
}
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state
                                  objects:(id __unsafe_unretained[])buffer
                                    count:(NSUInteger)capacity {
  return stand_in::enumerate(state, buffer, capacity, _items, &_mutations);
}
- (NSString*)description {
  std::string text = "(";
  for (id item : _items) text += std::string([item description].UTF8String) + ", ";
  return stand_in::string(text + ")");
}
@end

@implementation NSMutableArray
+ (instancetype)arrayWithCapacity:(NSUInteger)capacity {
  NSMutableArray* array = [[self alloc] init];
  array->_items.reserve(capacity);
  return array;
}
- (void)addObject:(id)object {
  stand_in::require_object(object, "-[__NSArrayM insertObject:atIndex:]");
  _items.push_back(object);
  ++_mutations;
}
- (void)removeAllObjects {
  _items.clear();
  ++_mutations;
}
@end

@implementation NSDictionary
+ (instancetype)dictionary {
  return [[self alloc] init];
}
+ (instancetype)dictionaryWithObjects:(const id[])objects forKeys:(const id<NSCopying>[])keys count:(NSUInteger)count {
  NSDictionary* dictionary = [[self alloc] init];
  for (NSUInteger i = 0; i < count; ++i) {
    stand_in::require_object(objects[i], "-[__NSPlaceholderDictionary initWithObjects:forKeys:count:]");
    stand_in::require_object(keys[i], "-[__NSPlaceholderDictionary initWithObjects:forKeys:count:]");
    if ([dictionary objectForKey:keys[i]]) continue;
    dictionary->_keys.push_back([keys[i] copyWithZone:nullptr]);
    dictionary->_values.push_back(objects[i]);
  }
  return dictionary;
}
- (NSUInteger)count {
  return _keys.size();
}
- (id)objectForKey:(id)key {
  for (std::size_t i = 0; i < _keys.size(); ++i) {
    if (_keys[i] == key || [_keys[i] isEqual:key]) return _values[i];
  }
  return nil;
}
- (id)objectForKeyedSubscript:(id)key {
  return [self objectForKey:key];
}
- (NSArray*)allKeys {
  NSArray* array = [NSArray new];
  array->_items = _keys;
  return array;
}
- (NSArray*)allValues {
  NSArray* array = [NSArray new];
  array->_items = _values;
  return array;
}
- (id)copyWithZone:(NSZone*)zone {
  NSDictionary* dictionary = [NSDictionary new];
  dictionary->_keys = _keys;
  dictionary->_values = _values;
  return dictionary;
}
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state
                                  objects:(id __unsafe_unretained[])buffer
                                    count:(NSUInteger)capacity {
  return stand_in::enumerate(state, buffer, capacity, _keys, &_mutations);
}
@end

@implementation NSMutableDictionary
+ (instancetype)dictionaryWithCapacity:(NSUInteger)capacity {
  NSMutableDictionary* dictionary = [[self alloc] init];
  dictionary->_keys.reserve(capacity);
  dictionary->_values.reserve(capacity);
  return dictionary;
}
- (void)setObject:(id)object forKey:(id<NSCopying>)key {
  stand_in::require_object(object, "-[__NSDictionaryM setObject:forKey:]");
  ++_mutations;
  for (std::size_t i = 0; i < _keys.size(); ++i) {
    if ([_keys[i] isEqual:key]) {
      _values[i] = object;
      return;
    }
  }
  _keys.push_back([key copyWithZone:nullptr]);
  _values.push_back(object);
}
- (void)setObject:(id)object forKeyedSubscript:(id<NSCopying>)key {
  [self setObject:object forKey:key];
}
@end

// What clang refers to for @[] and @{}.
extern "C" {
NSArray* __NSArray0__;
NSDictionary* __NSDictionary0__;
}
__attribute__((constructor(301))) static void make_empty_containers() {
  __NSArray0__ = [NSArray new];
  __NSDictionary0__ = [NSDictionary new];
}
