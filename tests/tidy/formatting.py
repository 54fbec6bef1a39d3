"""Every C++ file is as clang-format 14 writes it; `./run format` does that.

Other versions format otherwise, so only version 14 counts. Where the distribution has it, its
absence is a failure; elsewhere the check exits with 77, which ctest shows as skipped.
"""

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from source_tree import run

TOOL = "clang-format-14"
SKIPPED = 77
FILES_A_CALL = 20


def unformatted(tree, paths):
    """Lines of the tool's report on `paths`, relative to the root."""
    result = subprocess.run([TOOL, "--dry-run", "-Werror", *paths], cwd=tree.root,
                            capture_output=True, text=True, check=False)
    lines = [line for line in result.stderr.splitlines() if ": error: " in line]
    if result.returncode != 0 and not lines:
        lines = [f"{paths[0]}:1: {TOOL} failed: {result.stderr.strip()[:200]}"]
    return lines


def findings(tree):
    paths = tree.cpp()
    calls = [paths[i:i + FILES_A_CALL] for i in range(0, len(paths), FILES_A_CALL)]
    with ThreadPoolExecutor(max_workers=2) as pool:
        for lines in pool.map(lambda call: unformatted(tree, call), calls):
            yield from lines


def require_tool():
    """Ends the program where the tool is missing."""
    if shutil.which(TOOL):
        return
    print(f"formatting: {TOOL} is not installed (Debian 12: package {TOOL})")
    release = Path("/etc/os-release")
    is_bookworm = release.exists() and "VERSION_CODENAME=bookworm" in release.read_text()
    sys.exit(1 if is_bookworm else SKIPPED)


if __name__ == "__main__":
    require_tool()
    run(findings)
