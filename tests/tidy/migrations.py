"""Migrations are numbered 0001, 0002, ... without gaps and are all built into the migrator, in
order."""

import re

from source_tree import run

NAME = re.compile(r"^migrations/(\d{4})_[a-z0-9_]+\.sql$")
LISTS = "pgqueue/CMakeLists.txt"


def findings(tree):
    files = [p for p in tree.paths if p.startswith("migrations/")]
    expected = 1
    for path in files:
        match = NAME.match(path)
        if not match:
            yield f"{path}:1: a migration is called 0001_what_it_does.sql"
            continue
        if int(match[1]) != expected:
            yield f"{path}:1: number {int(match[1])}, expected {expected}: a gap or a double number"
        expected = int(match[1]) + 1
    if not files:
        yield "migrations:1: there are none"
    text = re.sub(r"#[^\n]*", "", tree.read(LISTS)) if tree.exists(LISTS) else ""
    listed = re.findall(r"migrations/[\w.-]+\.sql", text)
    for path in files:
        if path not in listed:
            yield f"{LISTS}:1: {path} is not built into the migrator"
    for path in listed:
        if path not in files:
            yield f"{LISTS}:1: {path} does not exist"
    if listed != sorted(listed):
        yield f"{LISTS}:1: the migrations are not in order"


if __name__ == "__main__":
    run(findings)
