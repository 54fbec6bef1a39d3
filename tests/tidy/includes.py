"""Who may include whom.

The floor is safety/base. The leaves pgqueue, cache and dns see the floor and themselves. What a
verdict is and how it is reached (safety/ and its folders) sees no leaf; only the composition does.
A third-party header stays inside the files that own it.
"""

import re
from fnmatch import fnmatch

from source_tree import PRODUCT_FOLDERS, run

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

LEAVES = ("pgqueue/", "cache/", "dns/")
# Only these parts of safety/ bring the leaves together.
COMPOSITION = ("safety/worker/", "safety/replay/", "safety/doctor/", "safety/apps/",
               "safety/engine.", "safety/engine_", "safety/link_judge", "safety/subject_judge",
               "safety/han_safety.")

# Third-party header (by the start of its name) -> the product files that own it.
OWNERS = {
    "pqxx/": ["pgqueue/*.cpp"],
    "libpq-fe.h": ["pgqueue/*.cpp"],
    "hiredis/": ["cache/protocol.cpp"],
    "ares.h": ["dns/*.cpp"],
    "hs.h": ["safety/text/rule_database.cpp"],
    "libpsl.h": ["safety/link/public_suffix.cpp"],
    "unicode/": ["safety/text/*.cpp", "safety/link/*.cpp"],
    "yaml-cpp/": ["safety/yaml_file.cpp"],
    "openssl/": ["cache/tls.cpp", "safety/base/*.cpp"],
    "xxhash.h": ["safety/base/digest.cpp"],
    "nlohmann/json_fwd.hpp": ["safety/*.h"],
    "nlohmann/json.hpp": ["cache/*.cpp", "safety/*.cpp"],
    "spdlog/": ["safety/telemetry/*", "safety/worker/*.cpp", "safety/apps/*.cpp"],
    "fmt/": ["safety/telemetry/*", "safety/worker/*.cpp", "safety/apps/*.cpp"],
    "prometheus/": ["safety/telemetry/*"],
    "httplib.h": ["safety/worker/*.cpp"],
    "CLI/": ["safety/apps/*"],
}
TEST_ONLY = ("gtest/", "gmock/")

STD = re.compile(r"^[a-z_0-9]+$")
# The C library and the kernel; whoever needs another one adds it here.
SYSTEM = re.compile(
    r"^((sys|netinet|arpa|linux|net)/[a-z_0-9]+\.h|(dirent|errno|fcntl|grp|netdb|poll|pthread|pwd"
    r"|sched|signal|spawn|stdint|stdlib|string|syslog|termios|time|unistd)\.h"
    r"|sanitizer/[a-z_]+\.h)$")


def may_see(path, target):
    """True when the project file `path` may include the project file `target`."""
    if path.startswith("tests/"):
        return True
    if target.startswith("tests/"):
        return False
    if target.startswith("safety/base/"):
        return True
    if path.startswith("safety/base/"):
        return False
    for leaf in LEAVES:
        if path.startswith(leaf):
            return target.startswith(leaf)
    if path.startswith("safety/apps/"):
        return True
    if target.startswith("safety/apps/"):
        return False
    if path.startswith(COMPOSITION):
        return True
    return not target.startswith(LEAVES + COMPOSITION)


def owner_fault(path, header):
    """Why `path` may not include <header>, or None."""
    in_tests = path.startswith("tests/")
    if header.startswith(TEST_ONLY):
        return None if in_tests else "belongs to tests"
    for prefix, owners in OWNERS.items():
        if header.startswith(prefix):
            if in_tests or any(fnmatch(path, owner) for owner in owners):
                return None
            return "belongs to " + ", ".join(owners)
    if STD.match(header) or SYSTEM.match(header):
        return None
    return None if in_tests else "is unknown: name its owner in tests/tidy/includes.py"


def findings(tree):
    for path in tree.cpp():
        if path.split("/")[0] not in PRODUCT_FOLDERS + ("tests", "examples"):
            yield f"{path}:1: this folder is not in the include table"
        includes = []
        for number, line in enumerate(tree.lines(path), 1):
            if match := INCLUDE.match(line):
                includes.append((number, match[1], match[2]))
        own = path[:-4] + ".h" if path.endswith(".cpp") else None
        if own and tree.exists(own) and (not includes or includes[0][2] != own):
            yield f'{path}:1: the first include must be its own header "{own}"'
        for number, kind, header in includes:
            if kind == '"':
                if not tree.exists(header):
                    yield f'{path}:{number}: "{header}" is no path from the root'
                elif not may_see(path, header):
                    yield f'{path}:{number}: may not include "{header}"'
            elif tree.exists(header):
                yield f"{path}:{number}: <{header}> is ours: write it in quotes"
            elif fault := owner_fault(path, header):
                yield f"{path}:{number}: <{header}> {fault}"


if __name__ == "__main__":
    run(findings)
