# SPDX-License-Identifier: Apache-2.0
# Builds for AArch64, whose libraries are in TR_ROOT, and runs the tests by an emulator: see tools/arm64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TR_ROOT)
set(CMAKE_SYSROOT ${TR_ROOT})
set(CMAKE_FIND_ROOT_PATH ${TR_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# matio is there without HDF5: who does not use it need not load it.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--as-needed -Wl,--unresolved-symbols=ignore-in-shared-libs")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${TR_ROOT})
