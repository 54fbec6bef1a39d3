"""Words that have no place here: sleeps, loose threads, skipped tests, notes of unfinished work,
swallowed exceptions."""

import re

from source_tree import run, without_strings

# In code alone; a comment may explain why something is not used.
IN_CODE = {
    r"\bsleep_(for|until)\b": "wait on a condition with a deadline",
    r"\b(u|nano)?sleep\s*\(": "wait on a condition with a deadline",
    r"\bstd::async\b": "a std::jthread with an owner does this",
    r"(\.|->)detach\s*\(": "a thread has an owner that joins it",
    r"\bstd::(recursive_|shared_)?timed_mutex\b": "the thread sanitizer does not know it",
    r"\busing\s+namespace\s+std\s*;": "names of std are written in full",
    r"\bGTEST_SKIP\b": "a test that cannot run has failed",
    r"\bDISABLED_\w+": "a test is fixed or deleted",
}
# In code outside tests/bench, which measures against what others use.
IN_OWN_CODE = {
    r"\bredis(Context|Connect\w*|GetReply\w*|Command|AppendCommand\w*)\b":
        "hiredis' own connection hands out stale replies: cache::Connection",
    r"\bSSL_VERIFY_NONE\b": "a server is always verified",
}
# Anywhere, comments included. Written apart, so that this file does not find itself.
ANYWHERE = {
    r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b": "finish it, or file an issue",
}
# Thread bodies and main log and stop; each file here says at the place why it goes on.
MAY_SWALLOW = ()

CATCH_ALL = re.compile(r"\bcatch\s*\(\s*\.\.\.\s*\)\s*\{")


def block_end(code, start):
    """Index after the brace that closes the block whose opening brace is before `start`."""
    depth = 1
    for index in range(start, len(code)):
        depth += {"{": 1, "}": -1}.get(code[index], 0)
        if depth == 0:
            return index + 1
    return len(code)


def line_of(text, index):
    return text.count("\n", 0, index) + 1


def swallowed(code):
    """Line numbers of `catch (...)` blocks that neither throw again nor keep the exception."""
    for match in CATCH_ALL.finditer(code):
        body = code[match.end():block_end(code, match.end())]
        if not re.search(r"\bthrow\s*;|\bstd::current_exception\b|\bstd::terminate\b", body):
            yield line_of(code, match.start())


def findings(tree):
    for path in tree.cpp():
        text = tree.read(path)
        code = without_strings(text)
        tables = [(IN_CODE, code), (ANYWHERE, text)]
        if not path.startswith("tests/bench/"):
            tables.append((IN_OWN_CODE, code))
        for table, where in tables:
            for pattern, instead in table.items():
                for match in re.finditer(pattern, where):
                    yield f"{path}:{line_of(where, match.start())}: {match[0]}: {instead}"
        if path not in MAY_SWALLOW:
            for number in swallowed(code):
                yield f"{path}:{number}: catch (...) without `throw;`"
    for path in tree.scripts():
        text = tree.read(path)
        for pattern, instead in ANYWHERE.items():
            for match in re.finditer(pattern, text):
                yield f"{path}:{line_of(text, match.start())}: {match[0]}: {instead}"


if __name__ == "__main__":
    run(findings)
