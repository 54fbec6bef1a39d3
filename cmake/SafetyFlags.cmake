# Flags of our own code, carried by one interface target; third-party headers are SYSTEM.
add_library(safety_flags INTERFACE)
target_compile_features(safety_flags INTERFACE cxx_std_20)
target_compile_options(safety_flags INTERFACE
  # A designated initializer leaves fields out on purpose.
  -Wall -Wextra -Wpedantic -Wno-missing-field-initializers
  -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Werror=switch
  $<$<BOOL:${SAFETY_WERROR}>:-Werror>
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
target_include_directories(safety_flags INTERFACE ${CMAKE_SOURCE_DIR})
if(SAFETY_SANITIZE)
  list(JOIN SAFETY_SANITIZE "," sanitizers)
  target_compile_options(safety_flags INTERFACE
    -fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(safety_flags INTERFACE -fsanitize=${sanitizers})
endif()

if(SAFETY_FUZZ)
  # The code under the fuzzers reports its coverage to them and is checked like they are.
  target_compile_options(safety_flags INTERFACE
    -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer)
  target_link_options(safety_flags INTERFACE -fsanitize=address,undefined)
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_program(SAFETY_CCACHE ccache)
if(SAFETY_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SAFETY_CCACHE})
endif()
find_program(SAFETY_MOLD mold)
if(SAFETY_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
