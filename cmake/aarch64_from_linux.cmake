# Toolchain: 64-bit ARM Linux, by Debian's cross compiler. For checks of the NEON kernels under an emulator; a release is
# built on such a machine.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
