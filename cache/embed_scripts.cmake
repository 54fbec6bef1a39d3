# Writes scripts/*.lua into a C++ source: cmake -DOUT=... -DFILES=a;b -P embed_scripts.cmake
string(CONCAT body
  "#include \"cache/script.h\"\n\nnamespace han::cache {\n\n"
  "std::vector<Script> embedded_scripts() {\n  std::vector<Script> scripts;\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND body "  scripts.emplace_back(\"${name}\", R\"luafile(${text})luafile\");\n")
endforeach()
string(APPEND body "  return scripts;\n}\n\n}  // namespace han::cache\n")
file(WRITE ${OUT} "${body}")
