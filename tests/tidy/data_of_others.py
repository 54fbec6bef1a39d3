"""The conformance data of others is whole: HAN_SAFETY_DATA (default ../shared/data) holds each file
that its MANIFEST.md names, with the size given there. A test that reads a torn copy proves
nothing."""

import os
import re
import sys
from pathlib import Path

ROW = re.compile(r"^\|\s*([\w./-]+)\s*\|\s*(\d+)\s*\|", re.M)


def main():
    default = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"
    data = Path(os.environ.get("HAN_SAFETY_DATA") or default)
    manifest = data / "MANIFEST.md"
    if not manifest.is_file():
        sys.exit(f"data_of_others: there is no {manifest}: set HAN_SAFETY_DATA")
    rows = ROW.findall(manifest.read_text())
    faults = []
    for name, size in rows:
        path = data / name
        if not path.is_file():
            faults.append(f"{name} is missing")
        elif path.stat().st_size != int(size):
            faults.append(f"{name} has {path.stat().st_size} bytes instead of {size}")
    if not rows:
        faults.append(f"{manifest} names no file")
    print("\n".join([*faults, f"data_of_others: {len(rows)} files, {len(faults)} faults"]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
