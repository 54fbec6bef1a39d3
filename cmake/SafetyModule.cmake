# One shape for every part: a static library with a header set (each header must compile alone),
# and test programs that run as one ctest entry each.

# safety_module(NAME SOURCES ... HEADERS ... [LINKS ...] [PRIVATE_LINKS ...])
# LINKS: targets whose headers our headers include. Third-party libraries go into PRIVATE_LINKS.
function(safety_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  add_library(safety::${name} ALIAS ${name})
  target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR} FILES ${arg_HEADERS})
  target_link_libraries(${name} PUBLIC safety_flags ${arg_LINKS} PRIVATE ${arg_PRIVATE_LINKS})
  set_target_properties(${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
endfunction()

# safety_test(NAME SOURCES ... LINKS ... LABELS ... [ENVIRONMENT ...] [TIMEOUT n])
# Labels: unit (no I/O), db (real servers), threads (also run under tsan), tidy, chaos, demo.
function(safety_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LINKS;LABELS;ENVIRONMENT" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE safety_flags ${arg_LINKS} GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES
    LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    ENVIRONMENT "SAFETY_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};${arg_ENVIRONMENT}")
endfunction()
