"""Shows that each check can fail: bad samples in a temp folder must be reported, good ones not.

    self_test.py CHECK
"""

import importlib
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from source_tree import Tree

HEADER = "// Thing: a sample.\n//\n// Threads: a value.\n#pragma once\n"
GOOD_CPP = '#include "cache/a.h"\n\nint a() { return 1; }\n'

# Check -> (part of the finding, the files of the sample). A sample is added to `GOOD`.
BAD = {
    "includes": [
        ('may not include "cache/a.h"', {"pgqueue/q.cpp": '#include "cache/a.h"\n'}),
        ('may not include "safety/verdict.h"', {"cache/b.cpp": '#include "safety/verdict.h"\n'}),
        ('may not include "cache/a.h"', {"safety/policy.cpp": '#include "cache/a.h"\n'}),
        ('may not include "cache/a.h"', {"safety/base/x.h": HEADER + '#include "cache/a.h"\n'}),
        ('may not include "safety/worker/w.h"',
         {"safety/text/t.cpp": '#include "safety/worker/w.h"\n', "safety/worker/w.h": HEADER}),
        ('may not include "tests/support/s.h"',
         {"cache/b.cpp": '#include "tests/support/s.h"\n', "tests/support/s.h": HEADER}),
        ("no path from the root", {"cache/b.cpp": '#include "a.h"\n'}),
        ("own header", {"cache/a.cpp": '#include <string>\n#include "cache/a.h"\n'}),
        ("<pqxx/pqxx> belongs to", {"safety/worker/w.cpp": "#include <pqxx/pqxx>\n"}),
        ("<libpq-fe.h> belongs to", {"cache/b.cpp": "#include <libpq-fe.h>\n"}),
        ("<pqxx/pqxx> belongs to", {"pgqueue/q.h": HEADER + "#include <pqxx/pqxx>\n"}),
        ("<hiredis/hiredis.h> belongs to", {"cache/b.cpp": "#include <hiredis/hiredis.h>\n"}),
        ("<hs.h> belongs to", {"safety/text/fold.cpp": "#include <hs.h>\n"}),
        ("<gtest/gtest.h> belongs to tests", {"cache/b.cpp": "#include <gtest/gtest.h>\n"}),
        ("is unknown", {"cache/b.cpp": "#include <curl/curl.h>\n"}),
        ("write it in quotes", {"cache/b.cpp": "#include <cache/a.h>\n"}),
        ("not in the include table", {"extras/e.cpp": "int e;\n"}),
    ],
    "sizes": [
        ("201 lines", {"cache/b.h": HEADER + "\n" * 197}),
        ("501 lines", {"cache/b.cpp": "\n" * 501}),
        ("101 columns", {"tests/b.cpp": "//" + "b" * 99}),
        ("may only shrink from 505", {"cache/b.cpp": "\n" * 510,
                                      "tests/tidy/size_exceptions.txt": "cache/b.cpp lines 505\n"}),
        ("lower its number", {"cache/b.cpp": "\n" * 510,
                              "tests/tidy/size_exceptions.txt": "cache/b.cpp lines 520\n"}),
        ("remove its line", {"tests/tidy/size_exceptions.txt": "cache/a.cpp lines 520\n"}),
        ("does not exist", {"tests/tidy/size_exceptions.txt": "cache/gone.cpp lines 520\n"}),
    ],
    "ascii": [
        ("cache/b.cpp:2: column 4 is U+00E9", {"cache/b.cpp": "\n// \u00e9\n"}),
        ("U+2014", {"migrations/0001_a.sql": "-- \u2014\n"}),
        ("U+200B", {"run": "echo \u200b\n"}),
    ],
    "header_comments": [
        ("no `Threads:` line", {"cache/b.h": "// Thing: a sample.\n#pragma once\n"}),
        ("no `Threads:` line", {"cache/b.h": "// Thing: Threads:\n#pragma once\n"}),
        ("opens with a comment", {"cache/b.h": "#pragma once\n// Threads: a value.\n"}),
        ("no #pragma once", {"cache/b.h": "// Thing: a sample.\n// Threads: a value.\n"}),
    ],
    "banned_words": [
        ("cache/b.cpp:2: sleep_for", {"cache/b.cpp": "\nauto f = this_thread::sleep_for;\n"}),
        ("usleep(", {"tests/b.cpp": "void f() { usleep(5); }\n"}),
        ("std::async", {"cache/b.cpp": "auto f = std::async(g);\n"}),
        ("detach(", {"cache/b.cpp": "void f() { thread.detach(); }\n"}),
        ("GTEST_SKIP", {"tests/b.cpp": "void f() { GTEST_SKIP(); }\n"}),
        ("DISABLED_Works", {"tests/b.cpp": "TEST(A, DISABLED_Works) {}\n"}),
        ("using namespace std", {"cache/b.cpp": "using namespace std;\n"}),
        ("redisContext", {"cache/b.cpp": "void f(redisContext* c) { c->err = 0; }\n"}),
        ("redisConnectWithTimeout", {"tests/b.cpp": "auto c = redisConnectWithTimeout();\n"}),
        ("SSL_VERIFY_NONE", {"cache/b.cpp": "set(context, SSL_VERIFY_NONE);\n"}),
        ("TO" + "DO", {"cache/b.cpp": "// TO" + "DO: later\n"}),
        ("FIX" + "ME", {"run": "# FIX" + "ME\n"}),
        ("without `throw;`",
         {"cache/b.cpp": "void f() { try { g(); } catch (...) { if (a) { b(); } } }\n"}),
        ("without `throw;`",
         {"cache/b.cpp": 'void f() { try { g(); } catch (...) { log("throw;"); } }\n'}),
    ],
    "allow_decision": [
        ("decides kAllow", {"safety/b.cpp": "auto d = Decision::kAllow;\n"}),
        ("decides kAllow", {"safety/engine.cpp": "verdict.decision = safety::Decision::kAllow;\n"}),
        ("decides kAllow", {"safety/b.cpp": "return a == kAllow ? x : Decision::kAllow;\n"}),
        ("comes from", {"safety/b.cpp": "auto d = static_cast<safety::Decision>(number);\n"}),
        ("comes from", {"safety/b.cpp": "auto d = Decision{};\n"}),
        ("comes from", {"safety/b.h": HEADER + "struct A {\n  Decision decision;\n};\n"}),
    ],
    "mirror_tests": [
        ("cache/b.cpp:1: no test tests/cache/b_test.cpp",
         {"cache/b.cpp": "int b;\n", "tests/cache/bb_test.cpp": "int b;\n",
          "cache/CMakeLists.txt": "a.h a.cpp b.cpp\n"}),
        ("no test tests/apps/m_test.cpp",
         {"safety/apps/m.cpp": "int m;\n", "safety/apps/CMakeLists.txt": "m.cpp\n"}),
        ("cache/b.cpp:1: no CMakeLists.txt builds it",
         {"cache/b.cpp": "int b;\n", "tests/cache/b_test.cpp": "int b;\n"}),
        ("tests/cache/c_test.cpp:1: no CMakeLists.txt builds it",
         {"tests/cache/c_test.cpp": "int c;\n"}),
        ("tests/fuzz/c_fuzz.cpp:1: no CMakeLists.txt builds it",
         {"tests/fuzz/c_fuzz.cpp": "int c;\n", "tests/fuzz/CMakeLists.txt": "safety_fuzz(cc x)"}),
    ],
    "migrations": [
        ("number 3, expected 2", {"migrations/0003_b.sql": "--\n"}),
        ("number 1, expected 2", {"migrations/0001_b.sql": "--\n"}),
        ("is called", {"migrations/2_b.sql": "--\n"}),
        ("is not built", {"migrations/0002_b.sql": "--\n"}),
        ("does not exist",
         {"pgqueue/CMakeLists.txt": "migrations/0001_a.sql migrations/0002_b.sql\n"}),
        ("not in order",
         {"migrations/0002_b.sql": "--\n",
          "pgqueue/CMakeLists.txt": "migrations/0002_b.sql migrations/0001_a.sql\n"}),
    ],
    "foreign_words": [
        ("README.md:2: ", {"README.md": "\nLook at /wo" + "rk/main.\n"}),
        ("belongs to some machine", {"run": "cd /ho" + "me/someone/han\n"}),
        ("belongs to some machine", {"run": "fetch https://deb.deb" + "ian.org/debian\n"}),
        ("belongs to some machine", {"tests/p.json": '"https://registry.npm' + 'js.org/a"\n'}),
    ],
    "formatting": [
        ("cache/b.cpp:1:", {"cache/b.cpp": "int  b( ) {return 1 ;}\n",
                            ".clang-format": "BasedOnStyle: Google\n"}),
    ],
}

GOOD = {
    "cache/a.h": HEADER,
    "cache/a.cpp": GOOD_CPP,
    "cache/CMakeLists.txt": "a.cpp a.h",
    "safety/verdict.h": HEADER + "// TODOs, as a word of its own, is something else.\n",
    "safety/CMakeLists.txt": "verdict.h",
    "tests/cache/a_test.cpp": "#include <gtest/gtest.h>\n\n"
                              "// No sleep_for here; \"a\" // GTEST_SKIP\n"
                              "int a = 60'000 + 'x';\n",
    "tests/cache/CMakeLists.txt": "a_test.cpp",
    "migrations/0001_a.sql": "-- one\n",
    "pgqueue/CMakeLists.txt": "migrations/0001_a.sql\n",
    "data.yaml": "\u00e9: http://host.example/home/page/x\n",
    ".clang-format": "BasedOnStyle: Google\n",
}
# What only one check should accept.
GOOD_ALSO = {
    "allow_decision": {"pgqueue/r.h": HEADER + "struct Decision {};\n",
                       "safety/b.cpp": "switch (d) {\n  case Decision::kAllow:\n}\n"
                                       "bool a = d == Decision::kAllow;\n"
                                       "Decision e = policy.decide();\nRetryDecision f{};\n"},
    "banned_words": {"cache/b.cpp": "void f() { try { g(); } catch (...) { h(); throw; } }\n"
                                    "using namespace std::chrono_literals;\n"
                                    'auto s = R"x(catch (...) { GTEST_SKIP })x";\n'},
    "mirror_tests": {"safety/apps/ctl/m.cpp": "int m;\n", "safety/apps/CMakeLists.txt": "ctl/m.cpp",
                     "tests/apps/ctl/m_dbtest.cpp": "int m;\n",
                     "tests/fuzz/c_fuzz.cpp": "int c;\n",
                     "tests/fuzz/CMakeLists.txt": "safety_fuzz(c LINKS cache)",
                     "tests/apps/CMakeLists.txt": "ctl/m_dbtest.cpp"},
    "includes": {"safety/worker/w.cpp": '#include <unistd.h>\n#include "cache/a.h"\n',
                 "safety/apps/m.cpp": '#include <CLI/CLI.hpp>\n#include "cache/a.h"\n'},
    "sizes": {"cache/b.cpp": "\n" * 505,
              "tests/tidy/size_exceptions.txt": "cache/b.cpp lines 505 # because\n"},
}


class CheckCanFail(unittest.TestCase):
    check = ""

    def findings(self, files):
        folder = Path(tempfile.mkdtemp(prefix="tidy_"))
        self.addCleanup(shutil.rmtree, folder)
        for name, text in (GOOD | files).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(text.encode())
        return list(importlib.import_module(self.check).findings(Tree(folder)))

    def test_good_sample_passes(self):
        self.assertEqual(self.findings(GOOD_ALSO.get(self.check, {})), [])

    def test_each_bad_sample_is_reported(self):
        for expected, files in BAD[self.check]:
            with self.subTest(expected=expected, files=list(files)):
                found = self.findings(files)
                self.assertTrue(any(expected in line for line in found), found)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in BAD:
        sys.exit(f"usage: self_test.py CHECK, one of: {' '.join(BAD)}")
    CheckCanFail.check = sys.argv.pop()
    getattr(importlib.import_module(CheckCanFail.check), "require_tool", lambda: None)()
    unittest.main()
