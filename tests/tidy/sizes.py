"""Headers have at most 200 lines, sources 500, lines 100 columns.

A file that is over is listed in size_exceptions.txt with its present size, which may only shrink.
Functions are measured by clang-tidy (readability-function-size).
"""

from source_tree import run

HEADER_LINES = 200
SOURCE_LINES = 500
COLUMNS = 100
EXCEPTIONS = "tests/tidy/size_exceptions.txt"


def limits(tree):
    """Yields (path, line number, "lines" or "columns", size, limit) of each measured thing."""
    for path in tree.cpp() + tree.scripts():
        lines = tree.lines(path)
        limit = HEADER_LINES if path.endswith(".h") else SOURCE_LINES
        yield path, len(lines), "lines", len(lines), limit
        widest = max(range(len(lines)), key=lambda index: len(lines[index]), default=None)
        if widest is not None:
            yield path, widest + 1, "columns", len(lines[widest]), COLUMNS


def exceptions(tree):
    """{(path, what): size}, each line being `path lines|columns size`."""
    listed = {}
    if tree.exists(EXCEPTIONS):
        for line in tree.lines(EXCEPTIONS):
            words = line.split("#")[0].split()
            if words:
                listed[words[0], words[1]] = int(words[2])
    return listed


def findings(tree):
    allowed = exceptions(tree)
    for path, number, what, size, limit in limits(tree):
        exception = allowed.pop((path, what), None)
        if exception is None:
            if size > limit:
                yield f"{path}:{number}: {size} {what}, at most {limit} are allowed"
        elif size <= limit:
            yield f"{EXCEPTIONS}:1: {path} is within the limit now: remove its line"
        elif size > exception:
            yield f"{path}:{number}: {size} {what}; it may only shrink from {exception}"
        elif size < exception:
            yield f"{EXCEPTIONS}:1: {path} has {size} {what} now: lower its number"
    for path, what in allowed:
        yield f"{EXCEPTIONS}:1: {path} ({what}) does not exist: remove its line"


if __name__ == "__main__":
    run(findings)
