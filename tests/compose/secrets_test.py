"""make_secrets.sh makes what compose.yaml wants, once, and shows nothing of it."""

import re
import subprocess
import unittest
import urllib.parse

from support import VM2, FolderTest


class Secrets(FolderTest):
    def test_every_secret_of_the_file_is_made(self):
        text = (VM2 / "compose.yaml").read_text()
        wanted = set(re.findall(r"\$\{SECRETS_DIR:-./secrets\}/(\w+)", text))
        self.assertEqual({path.name for path in self.secrets.iterdir()}, wanted)
        self.assertEqual(self.secrets.stat().st_mode & 0o777, 0o700)
        for path in self.secrets.iterdir():
            self.assertEqual(path.stat().st_mode & 0o777, 0o444, path.name)
            self.assertTrue(path.read_text().strip(), path.name)

    def test_passwords_are_long_and_all_different(self):
        values = [self.secret(path.name) for path in self.secrets.glob("*_password")]
        self.assertEqual(len(set(values)), len(values))
        for value in values:
            self.assertRegex(value, r"^[0-9a-f]{64}$")
        self.assertRegex(self.secret("message_safety_pepper"), r"^p1 [0-9a-f]{64}$")

    def test_what_is_there_stays(self):
        self.write_secret("redis_ops_password", "mine\n")
        (self.secrets / "redis_ops_health_password").unlink()
        before = self.secret("message_safety_pepper")
        result = subprocess.run(["sh", VM2 / "make_secrets.sh", self.secrets], check=True,
                                capture_output=True, text=True)
        self.assertEqual(self.secret("redis_ops_password"), "mine")
        self.assertEqual(self.secret("message_safety_pepper"), before)
        made = self.secrets / "redis_ops_health_password"
        self.assertEqual(result.stdout, f"made {made}\n")

    def test_addresses_name_the_local_database(self):
        password = self.secret("postgres_worker_password")
        self.assertEqual(self.secret("message_safety_worker_database_url"),
                         f"postgresql://safety_worker:{password}@postgres:5432/message_safety")

    def test_a_password_of_ones_own_may_have_any_byte(self):
        password = "p@ss/w%41#x?:& \\n'\"\u00e9"
        self.write_secret("postgres_worker_password", password + "\n")
        (self.secrets / "message_safety_worker_database_url").unlink()
        subprocess.run(["sh", VM2 / "make_secrets.sh", self.secrets], check=True,
                       capture_output=True)
        address = urllib.parse.urlsplit(self.secret("message_safety_worker_database_url"))
        self.assertEqual(address.hostname, "postgres")
        self.assertEqual(urllib.parse.unquote(address.password), password)


if __name__ == "__main__":
    unittest.main()
