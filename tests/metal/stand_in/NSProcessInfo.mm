#import <Foundation/Foundation.h>

#include "controls.hpp"

@implementation NSProcessInfo
+ (NSProcessInfo*)processInfo {
  static NSProcessInfo* information = [NSProcessInfo new];
  return information;
}
- (NSOperatingSystemVersion)operatingSystemVersion {
  const stand_in::Version version = stand_in::macos_version();
  return {version.major, version.minor, version.patch};
}
- (NSString*)operatingSystemVersionString {
  const stand_in::Version version = stand_in::macos_version();
  return [NSString stringWithFormat:@"Version %d.%d.%d (Build stand-in)", version.major, version.minor, version.patch];
}
- (BOOL)isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion)least {
  const stand_in::Version version = stand_in::macos_version();
  if (version.major != least.majorVersion) return version.major > least.majorVersion;
  if (version.minor != least.minorVersion) return version.minor > least.minorVersion;
  return version.patch >= least.patchVersion;
}
@end
