"""The files of the project and how a check reports on them.

A check is a script with one function `findings(tree)` that yields "path:line: what is wrong" and
ends with `run(findings)`. It reads the repository that it lies in, or another folder by --root;
the self-tests use that to show that each check can fail.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

# Folders of the product; what is below tests/ is held to fewer rules.
PRODUCT_FOLDERS = ("safety", "pgqueue", "cache", "dns")
# A string or a character of C++; the quote inside a number such as 60'000 begins none.
LITERAL = (r'R"(?P<tag>[^\s()\\]{0,16})\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"'
           r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n]){1,10}'")
UNREAD_FOLDERS = {"build", "node_modules", "__pycache__"}


class Tree:
    def __init__(self, root):
        self.root = Path(root).resolve()
        self.paths = sorted(self._from_git() or self._from_disk())

    def _from_git(self):
        """Tracked files and new ones that are not ignored, without what is deleted on disk."""
        if not (self.root / ".git").exists():
            return None
        listed = subprocess.run(
            ["git", "-c", f"safe.directory={self.root}", "-C", str(self.root), "ls-files", "-z",
             "--cached", "--others", "--exclude-standard"],
            check=True, capture_output=True).stdout.decode().split("\0")
        return {path for path in listed if path and (self.root / path).is_file()}

    def _from_disk(self):
        paths = []
        for folder, folders, files in os.walk(self.root):
            folders[:] = [f for f in folders if f not in UNREAD_FOLDERS and f[0] != "."]
            paths += [str((Path(folder) / name).relative_to(self.root)) for name in files]
        return paths

    def read(self, path):
        return (self.root / path).read_bytes().decode("utf-8", "replace")

    def lines(self, path):
        return self.read(path).splitlines()

    def exists(self, path):
        return (self.root / path).is_file()

    def cpp(self):
        """C++ sources and headers, ours all of them: nothing is vendored."""
        return [p for p in self.paths if p.endswith((".cpp", ".h"))]

    def product_cpp(self):
        return [p for p in self.cpp() if p.split("/")[0] in PRODUCT_FOLDERS]

    def scripts(self):
        """CMake, shell, Python and JavaScript files."""
        named = (".cmake", "CMakeLists.txt", ".sh", ".py", ".mjs", ".js", ".sql")
        return [p for p in self.paths if p.endswith(named) or p in ("run", ".ci/run")]


def without_comments(text):
    """C++ text with comments blanked; strings and line numbers stay as they are."""
    token = re.compile(LITERAL + r"|(?P<comment>//[^\n]*|/\*.*?\*/)", re.S)
    blank = lambda m: re.sub(r"[^\n]", " ", m[0]) if m["comment"] else m[0]
    return token.sub(blank, text)


def without_strings(text):
    """Like without_comments, and the insides of strings and characters blanked as well."""
    token = re.compile(LITERAL, re.S)
    blank = lambda m: re.sub(r"[^\n]", " ", m[0])
    return token.sub(blank, without_comments(text))


def run(findings):
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--root", default=Path(__file__).resolve().parents[2])
    tree = Tree(parser.parse_args().root)
    found = list(findings(tree))
    for line in found:
        print(line)
    print(f"{Path(sys.argv[0]).stem}: {len(found)} findings in {len(tree.paths)} files")
    sys.exit(1 if found else 0)
