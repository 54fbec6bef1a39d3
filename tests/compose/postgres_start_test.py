"""The local PostgreSQL as compose/vm2 starts it, without a container: roles from secrets, nobody
let in without a password, and a first start that was cut off is made anew."""

import os
import signal
import subprocess
import unittest
from pathlib import Path

from support import VM2, FolderTest, await_true, free_port, need

START = VM2 / "postgres/start.sh"
HEALTH = VM2 / "postgres/health.sh"


def binaries():
    """The newest version's folder, as start.sh finds it."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"),
                   key=lambda path: int(path.parts[4]))
    if not found:
        raise AssertionError("postgres is missing: apt-get install postgresql")
    return found[-1].parent


class PostgresStart(FolderTest):
    def setUp(self):
        super().setUp()
        self.bin = binaries()
        need("psql", "postgresql-client")
        self.data = self.make_folder("data")
        # Short, or the socket's path is too long.
        self.make_folder("run")
        self.use_other_user()
        self.port = free_port()
        self.places = {"PG_SECRETS": str(self.secrets), "PG_RUN": str(self.folder / "run"),
                       "PG_DATA": str(self.data), "PG_HOST": "127.0.0.1",
                       "PG_PORT": str(self.port), "PGPORT": str(self.port),
                       "PATH": f"{self.bin}:{os.environ['PATH']}"}

    def started(self):
        process = self.start_sh(START, "-p", self.port, "-c", "fsync=off", "-c",
                                "listen_addresses=127.0.0.1", **self.places)
        await_true(lambda: self.health().returncode == 0 or process.poll() is not None,
                   "PostgreSQL is healthy", 60)
        self.assertIsNone(process.poll(), self.log())
        return process

    def health(self):
        return self.run_sh(HEALTH, **self.places)

    def ask(self, role, secret, sql):
        result = subprocess.run(
            ["psql", "-w", "-XAtq", "-h", "127.0.0.1", "-p", str(self.port), "-U", role, "-d",
             "message_safety", "-c", sql], capture_output=True, text=True, check=False, timeout=30,
            env=os.environ | {"PGPASSWORD": self.secret(secret)})
        return (result.stdout + result.stderr).strip()

    def stop(self, process):
        process.send_signal(signal.SIGINT)
        process.wait(60)

    def test_roles_are_made_of_the_secrets_and_stay(self):
        process = self.started()
        self.assertEqual(self.ask("postgres", "postgres_admin_password", "SELECT 7"), "7")
        members = ("SELECT string_agg(roleid::regrole::text, ' ' ORDER BY roleid::regrole::text) "
                   "FROM pg_auth_members WHERE member = current_user::regrole")
        self.assertEqual(self.ask("safety_worker", "postgres_worker_password", members),
                         "message_safety_worker")
        self.assertEqual(self.ask("safety_operator", "postgres_operator_password", members),
                         "message_safety_owner message_safety_readonly")
        for setting, value in (("log_parameter_max_length", "0"), ("data_checksums", "on"),
                               ("log_parameter_max_length_on_error", "0"),
                               ("log_error_verbosity", "terse"),
                               ("password_encryption", "scram-sha-256")):
            self.assertEqual(self.ask("safety_worker", "postgres_worker_password",
                                      f"SHOW {setting}"), value)
        self.ask("postgres", "postgres_admin_password", "CREATE TABLE kept (x int)")
        self.stop(process)
        for path in self.secrets.iterdir():
            self.assertNotIn(self.secret(path.name), self.log())
        self.started()
        self.assertEqual(self.ask("postgres", "postgres_admin_password",
                                  "SELECT count(*) FROM kept"), "0")

    def test_health_needs_the_right_password_and_a_server_that_asks_for_one(self):
        process = self.started()
        right = self.secret("postgres_worker_password")
        self.write_secret("postgres_worker_password", "wrong\n")
        self.assertIn("not let in", self.health().stdout)
        self.write_secret("postgres_worker_password", right)
        rules = self.data / "cluster/pg_hba.conf"
        rules.write_text("host all all all trust\n")
        process.send_signal(signal.SIGHUP)
        await_true(lambda: "was not refused" in self.health().stdout, "health finds it")
        (self.secrets / "postgres_worker_password").unlink()
        self.assertEqual(self.health().returncode, 1)

    def test_a_secret_that_is_missing_starts_nothing(self):
        (self.secrets / "postgres_operator_password").unlink()
        result = self.run_sh(START, **self.places)
        self.assertEqual(result.returncode, 1)
        self.assertIn("secret of operator", result.stderr)
        self.assertEqual(list(self.data.iterdir()), [])

    def test_what_a_first_start_left_half_done_is_made_anew(self):
        half = self.data / "cluster.new"
        half.mkdir()
        (half / "PG_VERSION").write_text("0\n")
        self.use_other_user()
        self.started()
        self.assertFalse(half.exists())


if __name__ == "__main__":
    unittest.main()
