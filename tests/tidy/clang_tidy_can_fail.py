"""Shows that .clang-tidy reports what it is there for: each sample below must be found under the
name of its check, and the good one must pass. Needs clang-tidy 14, else exits with 77 (skipped)."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = "clang-tidy-14"

GOOD = """
namespace han::safety {
constexpr int kLimit = 3;
enum class Colour { kRed };
struct Point { int x = 0; };
class Counter {
 public:
  explicit Counter(int start) : count_(start) {}
  int next() { return ++count_; }
 private:
  int count_;
};
int last_of(Counter& counter) { return counter.next() + kLimit; }
}  // namespace han::safety
"""
NAMING = "readability-identifier-naming"
BAD = [
    (NAMING, "class counter {};"),
    (NAMING, "enum class Colour { Red };"),
    (NAMING, "constexpr int limit = 3;"),
    (NAMING, "int nextCount() { return 1; }"),
    (NAMING, "class Counter { int count; public: int next() { return ++count; } };"),
    ("readability-function-size", "int f(int a) {\n" + "  a = a * 3;\n" * 71 + "  return a;\n}"),
    ("misc-throw-by-value-catch-by-reference",
     "struct E { E(const E&); ~E(); };\nvoid g();\n"
     "void f() { try { g(); } catch (E e) { throw; } }"),
    ("modernize-use-override", "struct A { virtual void f(); virtual ~A(); };\n"
                               "struct B : A { virtual void f(); };"),
    ("clang-analyzer-core.NullDereference", "int f() { int* a = nullptr; return *a; }"),
    ("clang-analyzer-core.DivideZero", "int f() { int a = 0; return 1 / a; }"),
    ("bugprone-branch-clone", "int f(int a) { if (a > 1) { a *= 2; } else { a *= 2; } return a; }"),
    ("google-explicit-constructor", "class A { public: A(int a); };"),
    ("performance-unnecessary-value-param",
     "struct A { A(const A&); ~A(); int n() const; };\nint f(A a) { return a.n(); }"),
]


def checks_of(text, folder):
    """The names of the checks that report on `text`."""
    path = folder / "sample.cpp"
    path.write_text(text)
    result = subprocess.run(
        [TOOL, f"--config-file={ROOT}/.clang-tidy", "--quiet", str(path), "--", "-std=c++20"],
        capture_output=True, text=True, check=False)
    return set(re.findall(r"\[([\w.,-]+),-warnings-as-errors\]", result.stdout)), result


def main():
    if not shutil.which(TOOL):
        print(f"{TOOL} is not installed")
        sys.exit(77)
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="tidy_") as name:
        found, result = checks_of(GOOD, Path(name))
        if found or result.returncode != 0:
            wrong += 1
            print(f"the good sample is reported:\n{result.stdout}{result.stderr}")
        for check, text in BAD:
            found, result = checks_of(text, Path(name))
            if check not in found or result.returncode == 0:
                wrong += 1
                print(f"{check} does not report:\n{text}\n{result.stdout}{result.stderr}")
    print(f"clang_tidy_can_fail: {len(BAD) + 1} samples, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
