"""What the tests of compose/ share."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = ROOT / "compose"
VM2 = COMPOSE / "vm2"


def need(program, package):
    """The path of a program; a test without it fails by naming its Debian package."""
    path = shutil.which(program)
    if path is None:
        raise AssertionError(f"{program} is missing: apt-get install {package}")
    return path


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def await_true(question, what, seconds=30):
    end = time.monotonic() + seconds
    while not question():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)


def roomy_memory():
    """The folder in memory, where it has room: what is killed here is processes, not machines."""
    shm = Path("/dev/shm")
    if os.access(shm, os.W_OK) and shutil.disk_usage(shm).free > 512 << 20:
        return shm
    return None


class FolderTest(unittest.TestCase):
    """A folder of its own, and processes that end with the test."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="compose_", dir=roomy_memory()))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.folder.chmod(0o755)
        self.secrets = self.folder / "secrets"
        subprocess.run(["sh", VM2 / "make_secrets.sh", self.secrets], check=True,
                       stdout=subprocess.DEVNULL)
        self.user = None

    def use_other_user(self):
        """For servers that refuse root: all that is in the folder is nobody's from now on."""
        if os.getuid() != 0:
            return
        self.user = "nobody"
        owner = pwd.getpwnam(self.user)
        for path in (self.folder, *self.folder.rglob("*")):
            os.chown(path, owner.pw_uid, owner.pw_gid)

    def make_folder(self, name):
        path = self.folder / name
        path.mkdir(mode=0o700)
        return path

    def run_sh(self, script, *arguments, **environment):
        return subprocess.run(["sh", script, *map(str, arguments)], capture_output=True, text=True,
                              check=False, user=self.user, timeout=60, cwd=self.folder,
                              env=os.environ | environment)

    def start_sh(self, script, *arguments, **environment):
        """A server; its output is in the folder's file `log`."""
        with open(self.folder / "log", "ab") as log:
            process = subprocess.Popen(
                ["sh", script, *map(str, arguments)], stdout=log, stderr=log, user=self.user,
                stdin=subprocess.DEVNULL, cwd=self.folder, env=os.environ | environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    def secret(self, name):
        return (self.secrets / name).read_text().splitlines()[0]

    def write_secret(self, name, text):
        (self.secrets / name).unlink(missing_ok=True)
        (self.secrets / name).write_text(text)
