# Toolchain: macOS on Linux. zig's clang compiles against the hand-written declarations, LLVM's linker links against text
# stubs. For checks of what a Mac would build; a release is built on a Mac. tests/metal/cross_build.py prepares the kit.

foreach(name MPSGRAPH_NATIVE_CROSS_KIT MPSGRAPH_NATIVE_CROSS_ARCHITECTURE)
  if(NOT ${name})
    message(FATAL_ERROR "cmake/macos_from_linux.cmake needs ${name}")
  endif()
  list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ${name})
endforeach()
set(kit ${MPSGRAPH_NATIVE_CROSS_KIT})

set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR ${MPSGRAPH_NATIVE_CROSS_ARCHITECTURE})
set(CMAKE_CXX_COMPILER ${kit}/bin/c++)
set(CMAKE_OBJCXX_COMPILER ${kit}/bin/c++)
# Linked as installed: there is no install_name_tool here that would rewrite it, though CMake asks for one.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_NAME_TOOL ${kit}/bin/not_needed)
