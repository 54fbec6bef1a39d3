"""Code is ASCII: C++, CMake, SQL and scripts. Data and prose (YAML, JSON lines, Markdown) may be
anything; a test that needs other characters writes them as escapes."""

from source_tree import run


def findings(tree):
    for path in tree.cpp() + tree.scripts():
        for number, line in enumerate(tree.lines(path), 1):
            for column, character in enumerate(line, 1):
                if ord(character) > 126 or (ord(character) < 32 and character != "\t"):
                    yield f"{path}:{number}: column {column} is U+{ord(character):04X}, not ASCII"
                    break


if __name__ == "__main__":
    run(findings)
