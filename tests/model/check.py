"""Verifies one variant of the queue's model with SPIN: a variant that must hold, by the whole state
space without an error and with every step of it reached; one that must fail, by the right
assertion and a trail that shows why.

usage: check.py VARIANT [--folder FOLDER]
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODEL = Path(__file__).resolve().parent / "queue.pml"
MEMORY_MIB = 2048
DEPTH = 200_000

ONCE = r"accepted\[t\]<=1"
HOLDER = r"row\[t\]\.token==lease\["
TOUCH = r"lease\[.*\]\.token==row\[t\]\.token"
AGAIN = r"accepted\[t\]==0"
CYCLE = "acceptance cycle"

# Name: the model's switches, and for one that must fail: the error and what its trail shows, in
# this order.
VARIANTS = {
    "fence": (["FAULTS=2"], None, []),
    "fence_deep": (["FAULTS=3"], None, []),
    "ends": (["FAULTS=2", "ATTEMPTS_MAX=1", "LIVENESS"], None, []),
    "ends_deep": (["FAULTS=2", "LIVENESS"], None, []),
    "generation_without_lost_claim":
        (["FAULTS=2", "GENERATION_ONLY", "NO_LOST_CLAIM"], None, []),
    "no_fence_twice":
        (["FAULTS=2", "NO_FENCE", "CHECK_TWICE"], ONCE, ["is told that it has completed"]),
    "no_fence_holder":
        (["FAULTS=2", "NO_FENCE", "NO_LOST_CLAIM", "CHECK_HOLDER"], HOLDER,
         ["expires while its holder lives", "is rescued"]),
    "no_fence_touch":
        (["FAULTS=2", "NO_FENCE", "NO_LOST_CLAIM", "CHECK_TOUCH"], TOUCH,
         ["expires while its holder lives", "is rescued"]),
    "generation_only_twice":
        (["FAULTS=2", "GENERATION_ONLY", "CHECK_TWICE"], ONCE,
         ["the claim of task . is lost", "is told that it has completed"]),
    "generation_only_holder":
        (["FAULTS=2", "GENERATION_ONLY", "CHECK_HOLDER"], HOLDER, ["the claim of task . is lost"]),
    "generation_only_touch":
        (["FAULTS=2", "GENERATION_ONLY", "CHECK_TOUCH"], TOUCH, ["the claim of task . is lost"]),
    "async_completion":
        (["FAULTS=2", "ASYNC_COMPLETION", "CHECK_AGAIN"], AGAIN,
         ["the completion of task . is lost"]),
    "suspects_run_out":
        (["FAULTS=2", "ATTEMPTS_MAX=1", "LIVENESS", "SUSPECTS_RUN_OUT"], CYCLE,
         ["is rescued alone"]),
    "no_rescue": (["FAULTS=1", "LIVENESS", "NO_RESCUE"], CYCLE, ["crashes"]),
}
# What the absence of a fault, or of an attempt, leaves unreached.
UNREACHED = {
    "ATTEMPTS_MAX=1": r"proctype (worker|maintenance|heartbeat)",
    "NO_LOST_CLAIM": r"proctype world",
}


def fail(message):
    print(f"FAILED: {message}")
    sys.exit(1)


def run(arguments, folder, limit=600):
    result = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=limit,
                            check=False)
    return result.returncode, result.stdout + result.stderr


def build(folder, defines, is_liveness, is_short):
    code, output = run(["spin", *defines, "-a", str(MODEL)], folder)
    if code != 0:
        fail(f"spin does not read the model:\n{output}")
    kind = "-DNFAIR=3" if is_liveness else "-DSAFETY"
    code, output = run(["gcc", "-O0" if is_short else "-O2", "-w", "-DVECTORSZ=256", "-DCOLLAPSE",
                        "-DNOBOUNDCHECK", f"-DMEMLIM={MEMORY_MIB}", kind, "-o", "pan", "pan.c"],
                       folder)
    if code != 0:
        fail(f"gcc: {output}")


def unreached(output):
    """[(proctype, step)] of the report; the end of an endless process is no step."""
    found = []
    process = ""
    for line in output.splitlines():
        if line.startswith("unreached in "):
            process = line[len("unreached in "):]
        elif re.match(r"\t.*, state \d+, ", line) and '"-end-"' not in line:
            found.append((process, line.strip()))
    return found


def check_holds(output, switches):
    for wanted in ("errors: 0", "Full statespace search"):
        if wanted not in output:
            fail(f"SPIN does not say '{wanted}'")
    for unwanted in ("max search depth too small", "Search not completed", "out of memory",
                     "VECTORSZ is too small"):
        if unwanted in output:
            fail(f"SPIN says '{unwanted}'")
    allowed = [pattern for switch, pattern in UNREACHED.items() if switch in switches]
    left = [f"{process}: {step}" for process, step in unreached(output)
            if not any(re.match(pattern, process) for pattern in allowed)]
    if left:
        fail("steps that no run reaches:\n" + "\n".join(left))


def check_fails(output, folder, defines, error, words):
    if "errors: 1" not in output:
        fail("no error was found: the model cannot tell this variant from the right one")
    wanted = error if error == CYCLE else rf"assertion violated \(+{error}"
    if not re.search(wanted, output):
        fail(f"the error is another one than '{error}'")
    _, trail = run(["spin", *defines, "-t", "-k", "queue.pml.trail", str(MODEL)], folder)
    trail = re.sub(r"(?m)^ +", "", trail)
    print(f"the trail:\n{trail}")
    at = 0
    for word in words:
        match = re.compile(word).search(trail, at)
        if match is None:
            fail(f"the trail does not show '{word}'")
        at = match.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variant", choices=VARIANTS)
    variant = parser.parse_args().variant
    for program, package in (("spin", "spin"), ("gcc", "gcc")):
        if shutil.which(program) is None:
            fail(f"{program} is missing: apt-get install {package}")
    switches, error, words = VARIANTS[variant]
    defines = [f"-D{switch}" for switch in switches]
    is_liveness = "LIVENESS" in switches
    with tempfile.TemporaryDirectory(prefix="model_") as folder:
        build(folder, defines, is_liveness, is_short=error is not None)
        started = time.monotonic()
        # -w: 2^24 slots; -f: weak fairness of processes.
        code, output = run(["./pan", f"-m{DEPTH}", "-w24", *(["-a", "-f"] if is_liveness else [])],
                           folder, 3600)
        print(re.sub(r"(?m)^Depth=.*\n|^unreached(.|\n)*", "", output))
        if code != 0:
            fail(f"pan ends with {code}")
        if error is None:
            check_holds(output, switches)
        else:
            check_fails(output, folder, defines, error, words)
        states = re.search(r"(\d+) states, stored", output)[1]
        print(f"{variant}: as it must, {'fails' if error else 'holds'}; {states} states, "
              f"{time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main()
