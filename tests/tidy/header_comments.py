"""Every header of the product opens with a comment on what it is, and says what threads may do."""

import re

from source_tree import run

THREADS = re.compile(r"^[ \t]*//.*\bThreads:[ \t]+\S", re.M)


def findings(tree):
    for path in tree.product_cpp():
        if not path.endswith(".h"):
            continue
        text = tree.read(path)
        if not text.startswith("// "):
            yield f"{path}:1: a header opens with a comment: what it is and why"
        if not THREADS.search(text):
            yield f"{path}:1: no `Threads:` line says whether threads may share it"
        if "#pragma once" not in text and not path.endswith("han_safety.h"):
            yield f"{path}:1: no #pragma once"


if __name__ == "__main__":
    run(findings)
