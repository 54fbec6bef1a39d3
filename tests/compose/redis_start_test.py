"""Redis as compose/vm2 starts it, without a container: users from secrets, health in both
directions, and what a restart leaves of the data (covers 000-D01, 000-X11)."""

import shutil
import signal
import subprocess
import unittest

from support import COMPOSE, VM2, FolderTest, await_true, free_port, need

KEY = "han:safety:rl:service:chat:1"


class RedisStart(FolderTest):
    def setUp(self):
        super().setUp()
        need("redis-server", "redis-server")
        self.cli = need("redis-cli", "redis-tools")
        self.etc = self.make_folder("etc")
        for path in (VM2 / "redis.conf", *(COMPOSE / "redis").iterdir()):
            shutil.copy(path, self.etc)
        self.data = self.make_folder("data")
        self.make_folder("run")
        self.port = free_port()
        self.places = {"REDIS_ETC": str(self.etc), "REDIS_SECRETS": str(self.secrets),
                       "REDIS_RUN": str(self.folder / "run"), "REDIS_DATA": str(self.data),
                       "REDIS_MAXMEMORY": "64mb"}

    def start(self, *arguments):
        process = self.start_sh(self.etc / "start.sh", "--port", self.port, "--bind", "127.0.0.1",
                                *arguments, **self.places)
        return process

    def started(self, *arguments):
        process = self.start(*arguments)
        await_true(lambda: self.health().returncode == 0 or process.poll() is not None,
                   "Redis is healthy")
        self.assertIsNone(process.poll(), self.log())
        return process

    def health(self):
        return self.run_sh(self.etc / "health.sh", "-p", self.port, **self.places)

    def ask(self, user, *command):
        secret = self.secret(f"redis_{user}_password")
        return subprocess.run(
            [self.cli, "-p", str(self.port), "--user", user, "--no-auth-warning", *command],
            capture_output=True, text=True, check=False, timeout=30,
            env={"REDISCLI_AUTH": secret}).stdout.strip()

    def stop(self, process, number=signal.SIGTERM):
        process.send_signal(number)
        process.wait(30)

    def append_only_file(self):
        return max(self.data.glob("appendonlydir/*.incr.aof"))

    def test_it_is_healthy_and_as_the_file_says(self):
        process = self.started()
        info = self.ask("ops", "INFO")
        for line in ("maxmemory:67108864", "maxmemory_policy:volatile-lru", "aof_enabled:1"):
            self.assertIn(line, info)
        self.assertIn("NOPERM", self.ask("ops_health", "GET", KEY))
        # No secret is in its arguments, its environment or its log.
        hidden = [self.secret(path.name) for path in self.secrets.glob("redis_*_password")]
        seen = self.log() + subprocess.run(
            ["ps", "eww", "-o", "args=", "-p", str(process.pid)], capture_output=True, text=True,
            check=False).stdout
        for secret in hidden:
            self.assertNotIn(secret, seen)
        self.assertFalse(any(secret in (self.folder / "run/users.acl").read_text()
                             for secret in hidden))

    def test_a_secret_that_is_missing_or_empty_starts_nothing(self):
        for name, text in (("redis_ops_password", None), ("redis_message_safety_password", "")):
            kept = self.secret(name)
            self.write_secret(name, text or "")
            if text is None:
                (self.secrets / name).unlink()
            result = self.run_sh(self.etc / "start.sh", "--port", self.port, **self.places)
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertIn("there are no users", result.stderr)
            self.write_secret(name, kept)

    def test_a_folder_that_it_cannot_have_starts_nothing(self):
        self.places["REDIS_DATA"] = str(self.folder / "nothing")
        result = self.run_sh(self.etc / "start.sh", **self.places)
        self.assertEqual(result.returncode, 1)
        self.assertIn("no folder", result.stderr)

    def test_health_fails_with_a_wrong_secret_and_says_no_secret(self):
        self.started()
        right = self.secret("redis_ops_health_password")
        for text in ("wrong\n", "", "wrong\nwrong too"):
            self.write_secret("redis_ops_health_password", text)
            result = self.health()
            self.assertEqual(result.returncode, 1, text)
            self.assertNotIn("wrong\n", result.stdout + result.stderr)
        # While it is rotated either line will do.
        self.write_secret("redis_ops_health_password", f"next\n{right}\n")
        self.assertEqual(self.health().returncode, 0)
        (self.secrets / "redis_ops_health_password").unlink()
        self.assertEqual(self.health().returncode, 1)

    def test_health_fails_when_anybody_is_let_in(self):
        template = self.etc / "users.acl.template"
        lines = ["user default on nopass ~* &* +@all" if line.startswith("user default") else line
                 for line in template.read_text().splitlines()]
        template.write_text("\n".join(lines) + "\n")
        self.start()
        await_true(lambda: "without a password" in self.health().stdout, "health finds it")
        self.assertEqual(self.health().returncode, 1)

    def test_health_fails_when_nothing_listens(self):
        self.assertEqual(self.health().returncode, 1)

    def test_a_killed_server_keeps_keys_and_their_ttl(self):
        process = self.started()
        self.assertEqual(self.ask("message_safety", "SET", KEY, "1", "EX", "600"), "OK")
        self.stop(process, signal.SIGKILL)
        self.started()
        self.assertEqual(self.ask("message_safety", "GET", KEY), "1")
        self.assertGreater(int(self.ask("message_safety", "PTTL", KEY)), 500_000)

    def test_a_torn_end_of_the_append_only_file_costs_the_last_write(self):
        process = self.started()
        self.ask("message_safety", "SET", KEY, "1", "EX", "600")
        self.ask("message_safety", "SET", KEY + "2", "2", "EX", "600")
        self.stop(process)
        file = self.append_only_file()
        file.write_bytes(file.read_bytes()[:-3])
        self.started()
        self.assertEqual(self.ask("message_safety", "GET", KEY), "1")
        self.assertEqual(self.ask("message_safety", "GET", KEY + "2"), "")

    def test_a_corrupt_append_only_file_is_refused_and_can_be_cut(self):
        process = self.started()
        self.ask("message_safety", "SET", KEY, "1", "EX", "600")
        self.ask("message_safety", "SET", KEY + "2", "2", "EX", "600")
        self.stop(process)
        file = self.append_only_file()
        size = len(file.read_bytes())
        file.write_bytes(file.read_bytes()[:size - 40] + b"garbage" * 8)
        refused = self.start()
        self.assertNotEqual(refused.wait(30), 0)
        self.assertIn("Bad file format", self.log())
        subprocess.run([need("redis-check-aof", "redis-tools"), "--fix", str(file)], input="y\n",
                       capture_output=True, text=True, check=True, timeout=30)
        self.started()
        self.assertEqual(self.ask("message_safety", "GET", KEY), "1")

    def test_an_empty_folder_starts_an_empty_cache(self):
        process = self.started()
        self.ask("message_safety", "SET", KEY, "1", "EX", "600")
        self.stop(process)
        shutil.rmtree(self.data)
        self.make_folder("data")
        self.started()
        self.assertEqual(self.ask("ops", "DBSIZE"), "0")


if __name__ == "__main__":
    unittest.main()
