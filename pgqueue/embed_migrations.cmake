# Writes migrations/*.sql into a C++ source: cmake -DOUT=... -DFILES=a;b -P embed_migrations.cmake
string(CONCAT body
  "#include \"pgqueue/migrator.h\"\n\nnamespace han::pgqueue {\n\n"
  "std::vector<MigrationFile> embedded_migrations() {\n  return {\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  string(REGEX MATCH "^0*([0-9]+)_" ignored ${name})
  set(number ${CMAKE_MATCH_1})
  file(READ ${file} sql)
  string(APPEND body "      {${number}, \"${name}\", R\"sqlfile(${sql})sqlfile\"},\n")
endforeach()
string(APPEND body "  };\n}\n\n}  // namespace han::pgqueue\n")
file(WRITE ${OUT} "${body}")
