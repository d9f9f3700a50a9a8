#pragma once

#import <Foundation/Foundation.h>

#include <cstdarg>
#include <string>
#include <vector>

namespace stand_in {

NSString* string(const std::string& text);
/// printf's formatting with %@.
std::string formatted(const char* format, va_list* arguments);

/// A window of a container for fast enumeration.
NSUInteger enumerate(NSFastEnumerationState* state, id __unsafe_unretained* buffer, NSUInteger capacity,
                     const std::vector<id>& items, unsigned long* mutations);
/// Raises what Foundation raises when nil is put into a container.
void require_object(id object, const char* method);

}  // namespace stand_in

@interface NSArray () {
 @public
  std::vector<id> _items;
  unsigned long _mutations;
}
@end

@interface NSDictionary () {
 @public
  std::vector<id> _keys;
  std::vector<id> _values;
  unsigned long _mutations;
}
@end
