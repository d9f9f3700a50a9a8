#include <filesystem>

#include "foundation.hpp"

namespace files = std::filesystem;

@interface NSURL () {
  NSString* _path;
}
@end
@implementation NSURL
+ (NSURL*)fileURLWithPath:(NSString*)path {
  NSURL* url = [[self alloc] init];
  url->_path = path;
  return url;
}
+ (NSURL*)fileURLWithPath:(NSString*)path isDirectory:(BOOL)isDirectory {
  return [self fileURLWithPath:path];
}
- (NSString*)path {
  return _path;
}
- (NSURL*)URLByAppendingPathComponent:(NSString*)component {
  return [NSURL fileURLWithPath:[NSString stringWithFormat:@"%@/%@", _path, component]];
}
- (id)copyWithZone:(NSZone*)zone {
  return self;
}
@end

static files::path path_of(NSURL* url) { return url.path.UTF8String; }

static BOOL succeeded(const std::error_code& code, NSError** error) {
  if (!code) return YES;
  if (error) {
    *error = [NSError errorWithDomain:@"NSCocoaErrorDomain"
                                 code:code.value()
                             userInfo:@{NSLocalizedDescriptionKey : stand_in::string(code.message())}];
  }
  return NO;
}

@implementation NSFileManager
+ (NSFileManager*)defaultManager {
  static NSFileManager* manager = [NSFileManager new];
  return manager;
}
- (BOOL)fileExistsAtPath:(NSString*)path {
  return files::exists(path.UTF8String);
}
- (BOOL)createDirectoryAtURL:(NSURL*)url
    withIntermediateDirectories:(BOOL)intermediates
                     attributes:(NSDictionary*)attributes
                          error:(NSError**)error {
  std::error_code code;
  intermediates ? files::create_directories(path_of(url), code) : files::create_directory(path_of(url), code);
  return succeeded(code, error);
}
- (BOOL)removeItemAtURL:(NSURL*)url error:(NSError**)error {
  std::error_code code;
  if (files::remove_all(path_of(url), code) == 0 && !code) code = make_error_code(std::errc::no_such_file_or_directory);
  return succeeded(code, error);
}
- (BOOL)moveItemAtURL:(NSURL*)source toURL:(NSURL*)destination error:(NSError**)error {
  std::error_code code;
  if (files::exists(path_of(destination))) {
    code = make_error_code(std::errc::file_exists);
  } else {
    files::rename(path_of(source), path_of(destination), code);
  }
  return succeeded(code, error);
}
@end
