"""Runs clang-tidy 14 over every source of the build, two at a time; any finding is a failure.

    clang_tidy.py --build DIR [--cache DIR] [--jobs N] [FILE ...]

DIR has a compile_commands.json made for clang. A file that passed is remembered under a digest of
everything of ours that its result depends on: its text, the headers of the project that it
includes (through others too), its compile command, .clang-tidy and the tool's version; it is not
read again until one of them changes. System headers are taken as they are.
"""

import argparse
import hashlib
import json
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = "clang-tidy-14"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
NOISE = re.compile(r"^\d+ warnings? (and \d+ errors? )?generated|^Suppressed \d+ warnings|"
                   r"^Use -header-filter|^Error while processing|^\d+ warnings? treated as error")


def commands(build):
    """{file relative to the root: its compile command}; files out of the tree are generated."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(ROOT) and not path.is_relative_to(build):
            arguments = entry.get("arguments") or shlex.split(entry["command"])
            found.setdefault(str(path.relative_to(ROOT)), " ".join(arguments))
    return found


class Inputs:
    """What the result of a file depends on."""

    def __init__(self):
        version = subprocess.run([TOOL, "--version"], capture_output=True, text=True, check=True)
        self.shared = version.stdout
        self.included = {}

    def headers(self, path):
        """The project's headers that `path` includes, also through others."""
        pending, seen = [path], {path}
        while pending:
            current = pending.pop()
            if current not in self.included:
                text = (ROOT / current).read_text(errors="replace")
                self.included[current] = [name for name in INCLUDE.findall(text)
                                          if (ROOT / name).is_file()]
            for name in self.included[current]:
                if name not in seen:
                    seen.add(name)
                    pending.append(name)
        return sorted(seen)

    def configs(self, path):
        """The .clang-tidy files that count for `path`."""
        folders = [ROOT, *(ROOT / folder for folder in Path(path).parents)]
        return sorted({folder / ".clang-tidy" for folder in folders
                       if (folder / ".clang-tidy").is_file()})

    def digest(self, path, command):
        hashed = hashlib.sha256((self.shared + command).replace(str(ROOT), "").encode())
        for file in [*map(ROOT.joinpath, self.headers(path)), *self.configs(path)]:
            hashed.update(f"\n{file.relative_to(ROOT)}\n".encode() + file.read_bytes())
        return hashed.hexdigest()


def tidy(path, build):
    """Findings in `path`, an empty text when there are none."""
    result = subprocess.run([TOOL, "-p", str(build), "--quiet", path], cwd=ROOT,
                            capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return ""
    lines = [line for line in (result.stdout + result.stderr).splitlines()
             if not NOISE.match(line)]
    return "\n".join(lines).replace(f"{ROOT}/", "") or f"{path}: {TOOL} failed"


def main():
    parser = argparse.ArgumentParser(description="clang-tidy over all sources, with a memory")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=ROOT / ".cache" / "tidy")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    build = options.build.resolve()
    all_commands = commands(build)
    unknown = [file for file in options.files if file not in all_commands]
    if unknown:
        sys.exit(f"clang-tidy: not in {options.build}/compile_commands.json: {' '.join(unknown)}")

    inputs = Inputs()
    work = []
    for path in options.files or sorted(all_commands):
        passed = options.cache / inputs.digest(path, all_commands[path])
        if passed.exists():
            passed.touch()
        else:
            work.append((path, passed))
    read_before = len(options.files or all_commands) - len(work)
    print(f"clang-tidy: {len(work)} files to read, {read_before} passed before", flush=True)

    started = time.monotonic()
    failed = []
    with ThreadPoolExecutor(max_workers=options.jobs) as pool:
        for (path, passed), found in zip(work, pool.map(lambda w: tidy(w[0], build), work)):
            if found:
                failed.append(path)
                print(found, flush=True)
            else:
                passed.touch()
    seconds = time.monotonic() - started
    print(f"clang-tidy: {len(work) - len(failed)} files passed, {len(failed)} failed "
          f"in {seconds:.0f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
