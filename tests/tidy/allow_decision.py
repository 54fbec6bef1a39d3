"""Only safety/policy.cpp decides that something is allowed.

No failure may turn into `allow`, so nothing else of the product may name the enumerator but to
compare with it, and nothing may make a Decision out of a number or out of nothing: the enumerator
is zero.
"""

import re

from source_tree import run, without_strings

# verdict.*: the enumeration itself, its words and back.
PERMITTED = ("safety/policy.cpp", "safety/verdict.h", "safety/verdict.cpp")

COMPARED = re.compile(r"[=!]=\s*(\w+::)*kAllow\b|\bcase\s+(\w+::)*kAllow\s*:"
                      r"|\b(\w+::)*kAllow\s*[=!]=")
NAMED = re.compile(r"\bkAllow\b")
MADE = re.compile(r"\b(static_cast|bit_cast|reinterpret_cast)\s*<\s*(\w+::)*Decision\b"
                  r"|\bDecision\s*[{(]|\busing\s+enum\s+(\w+::)*Decision\b"
                  r"|\(\s*(\w+::)*Decision\s*\)\s*\w|\bDecision\s+\w+\s*(;|\{\s*\})")


def findings(tree):
    for path in tree.product_cpp():
        # The leaves cannot see the type, and may call something of their own a Decision.
        if path in PERMITTED or not path.startswith("safety/"):
            continue
        for number, line in enumerate(without_strings(tree.read(path)).splitlines(), 1):
            if NAMED.search(COMPARED.sub("", line)):
                yield f"{path}:{number}: only safety/policy.cpp decides kAllow"
            if MADE.search(line):
                yield (f"{path}:{number}: a Decision comes from safety/policy.cpp or is parsed, "
                       "and has an initial value")


if __name__ == "__main__":
    run(findings)
