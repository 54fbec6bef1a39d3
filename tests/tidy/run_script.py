"""The script ./run: its help names every command, what it does not know ends with 2 and the help,
and its summary counts what ctest counted. Nothing is installed or built here: the summary is made
by a copy of the script in a folder of samples."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ("setup", "build", "demo", "test", "soak", "bench", "format", "lint")

CTEST_LOG = """
 1/12 Test #1: a ....   Passed
92% tests passed, 1 tests failed out of 12
Total Test time (real) =   1.00 sec
"""
# Replaces the commands at the end of the script: three stages, whose second one says what ctest
# says and whose last one is told by the sample.
STAGES = """
sample() { printf '%s' "$CTEST_LOG" | tee "$(log_of "$1")"; return "$2"; }
rm -rf "$logs"
mkdir -p "$logs"
echo conformance_url >"$logs/disabled"
stage setup true
stage 'dev: tests' sample 'dev: tests' 0
stage 'clang: clang-tidy' "$LAST"
finish
"""


def call(*arguments, script=ROOT / "run", **environment):
    return subprocess.run([str(script), *arguments], capture_output=True, text=True, check=False,
                          cwd="/", env=os.environ | environment, timeout=30)


class RunScript(unittest.TestCase):
    def test_help_names_every_command_with_an_example(self):
        for word in ("--help", "-h", "help"):
            result = call(word)
            self.assertEqual(result.returncode, 0)
            for command in COMMANDS:
                self.assertRegex(result.stdout, rf"(?m)^  {command} ")
                self.assertRegex(result.stdout, rf"(?m)^ +\./run {command}\b")

    def test_every_command_of_the_script_is_in_the_help(self):
        text = (ROOT / "run").read_text()
        known = re.findall(r"^  ([a-z]+)\)", text[text.index("\ncase $command in"):], re.M)
        self.assertEqual(set(known), set(COMMANDS))

    def test_what_it_does_not_know_ends_with_2(self):
        for arguments in ((), ("nonsense",), ("test", "nonsense"), ("build", "nonsense"),
                          ("soak", "long"), ("soak", "0")):
            result = call(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn("run: error: ", result.stderr)
            self.assertIn("usage: ./run", result.stderr)

    def test_conformance_without_data_fails(self):
        result = call("test", "conformance", HAN_SAFETY_DATA="/nonexistent")
        self.assertEqual(result.returncode, 1)
        self.assertIn("HAN_SAFETY_DATA", result.stderr)

    def summary(self, last, log=CTEST_LOG):
        with tempfile.TemporaryDirectory(prefix="run_") as folder:
            script = Path(folder) / "run"
            text = (ROOT / "run").read_text()
            script.write_text(text[:text.index("\ncommand=")] + STAGES)
            shutil.copymode(ROOT / "run", script)
            shutil.copytree(ROOT / ".ci", Path(folder) / ".ci")
            return call(script=script, CTEST_LOG=log, LAST=last,
                        HAN_SAFETY_DATA="/nonexistent")

    def test_summary_adds_up_and_names_what_is_disabled(self):
        result = self.summary("true")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.splitlines()[-1], "11 passed, 1 failed")
        self.assertIn("dev: tests: 92% tests passed, 1 tests failed out of 12", result.stdout)
        self.assertRegex(result.stdout, r"Disabled, .* /nonexistent: conformance_url")

    def test_skipped_tests_are_not_counted_as_passed(self):
        log = CTEST_LOG + "The following tests did not run:\n\t  7 - tidy_formatting (Skipped)\n"
        lines = self.summary("true", log).stdout.splitlines()
        self.assertEqual(lines[-1], "10 passed, 1 failed, 1 skipped")
        self.assertIn("Skipped, and the test itself says why: tidy_formatting", lines)

    def test_red_stage_ends_with_1(self):
        result = self.summary("false")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"(?m)^clang: clang-tidy +FAILED +\d+ s$")
        self.assertEqual(result.stdout.splitlines()[-1], "11 passed, 1 failed")


if __name__ == "__main__":
    unittest.main()
