"""The tree names no particular machine: no folder of a workplace, no registry host. What is built
or installed comes by package name, wherever the user's machine gets it from."""

import re

from source_tree import run

# A path counts where it starts, so that a URL such as http://host.example/home/page is fine.
PATHS = re.compile(r"(?<![\w.~%/-])/(work|workspace|home/\w+|Users/\w+|root/\w+)(?=/)")
HOSTS = re.compile(r"\b((deb|security|ftp\.?\w*)\.debian\.org|archive\.ubuntu\.com"
                   r"|registry\.(npmjs\.org|yarnpkg\.com)|(files\.)?pypi\.org|pythonhosted\.org"
                   r"|proxy\.golang\.org|static\.crates\.io)\b")


def findings(tree):
    for path in tree.paths:
        if b"\0" in (tree.root / path).read_bytes()[:8192]:
            continue
        for number, line in enumerate(tree.lines(path), 1):
            for pattern in (PATHS, HOSTS):
                if match := pattern.search(line):
                    yield f"{path}:{number}: {match[0]} belongs to some machine, not to the project"


if __name__ == "__main__":
    run(findings)
