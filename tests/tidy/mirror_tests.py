"""Every source of the product has a test of its own name in the mirrored folder, and the
CMakeLists.txt of each folder names its files: a source that is not built is not tested, a header
that is in no header set is not compiled alone."""

import re

from source_tree import run

SUFFIX = r"_[a-z]*test\.cpp"


def mirrored(folder):
    """The applications' tests lie in tests/apps; every other folder is mirrored as it is."""
    is_app = folder == "safety/apps" or folder.startswith("safety/apps/")
    return folder.replace("safety/", "tests/", 1) if is_app else f"tests/{folder}"


def is_fuzz_target(tree, path):
    """True when the file is a target of tests/fuzz, whose list leaves the suffix out."""
    match = re.fullmatch(r"(tests/fuzz)/(\w+)_fuzz\.cpp", path)
    lists = f"{match[1]}/CMakeLists.txt" if match else ""
    return tree.exists(lists) and f"safety_fuzz({match[2]} " in tree.read(lists)


def is_listed(tree, path):
    """True when a CMakeLists.txt of its folder, or the nearest above, names the file; any other one
    may name it by its path from the root."""
    if is_fuzz_target(tree, path):
        return True
    lists = [p for p in tree.paths if p.endswith("CMakeLists.txt")]
    if any(f"${{CMAKE_SOURCE_DIR}}/{path}" in tree.read(p) for p in lists):
        return True
    folder, name = path.rsplit("/", 1)
    while True:
        lists = f"{folder}/CMakeLists.txt" if folder else "CMakeLists.txt"
        if tree.exists(lists):
            pattern = rf"(?<![\w.-]){re.escape(name)}(?![\w.-])"
            return re.search(pattern, tree.read(lists)) is not None
        if not folder:
            return False
        folder, _, _last = folder.rpartition("/")
        name = f"{_last}/{name}"


def findings(tree):
    sources = set(tree.cpp())
    for path in tree.product_cpp():
        if not path.endswith(".cpp"):
            continue
        folder, name = path.rsplit("/", 1)
        wanted = re.compile(re.escape(f"{mirrored(folder)}/{name[:-4]}") + SUFFIX + "$")
        if not any(wanted.match(source) for source in sources):
            yield f"{path}:1: no test {mirrored(folder)}/{name[:-4]}_test.cpp (or _pgtest, ...)"
    for path in tree.cpp():
        is_test_header = path.startswith("tests/") and path.endswith(".h")
        if "/" in path and not is_test_header and not is_listed(tree, path):
            yield f"{path}:1: no CMakeLists.txt builds it"


if __name__ == "__main__":
    run(findings)
