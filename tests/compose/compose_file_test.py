"""compose/vm2/compose.yaml: Docker Compose reads it, and every service is hardened as it should be.

Nothing is started. Each rule is also shown a file that breaks it.
"""

import copy
import functools
import re
import shutil
import subprocess
import tempfile
import unittest

from support import COMPOSE, VM2

try:
    import yaml
except ImportError as error:
    raise SystemExit("yaml is missing: apt-get install python3-yaml") from error

FILE = VM2 / "compose.yaml"
PROFILES = ("local-db", "migrate", "ctl")
PRIVATE_PORTS = ("6379", "5432")
# Services that run for long, and so are asked how they are.
LASTING = ("worker", "redis-safety", "postgres")
FROM_OTHERS = ("redis-safety", "postgres")


@functools.cache
def compose_command():
    """The plugin of docker, or the program of its own (Debian 12), or the plugin without docker."""
    plugin = "/usr/libexec/docker/cli-plugins/docker-compose"
    for command in (["docker", "compose"], ["docker-compose"], [plugin]):
        if shutil.which(command[0]) is None:
            continue
        found = subprocess.run([*command, "version"], capture_output=True, check=False)
        if found.returncode == 0:
            return command
    raise AssertionError("Docker Compose is missing: apt-get install docker-compose")


def load():
    """The file with the defaults of its variables."""
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", FILE.read_text())
    return yaml.safe_load(text)


def size(text):
    factors = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
    number, unit = re.fullmatch(r"(\d+)([kmg])b?", text).groups()
    return int(number) * factors[unit]


def service_faults(name, service, document):
    """Yields what is soft about a service."""
    user = str(service.get("user", ""))
    if not re.fullmatch(r"[1-9]\d*:[1-9]\d*", user):
        yield "user is not a number other than root's"
    if service.get("read_only") is not True:
        yield "its files can be written"
    if service.get("cap_drop") != ["ALL"] or service.get("cap_add"):
        yield "it keeps capabilities"
    if service.get("security_opt") != ["no-new-privileges=true"]:
        yield "it may gain privileges"
    for word in ("privileged", "devices", "network_mode", "pid", "ipc", "userns_mode", "extends",
                 "env_file", "links"):
        if word in service:
            yield f"{word} is set"
    for mount in service.get("tmpfs", []):
        if not {"noexec", "nosuid", "nodev"} <= set(mount.split(":", 1)[-1].split(",")):
            yield f"tmpfs {mount} allows programs"
        if "size=" not in mount:
            yield f"tmpfs {mount} has no bound"
    for mount in service.get("volumes", []):
        if mount.startswith((".", "/")) and not mount.endswith(":ro"):
            yield f"{mount} can be written"
        if "docker.sock" in mount:
            yield "it can reach Docker"
    for port in service.get("ports", []):
        if not str(port).startswith("127.0.0.1:"):
            yield f"port {port} is open to other machines"
        if str(port).rsplit(":", 1)[-1] in PRIVATE_PORTS:
            yield f"port {port} is published"
    for limit in ("mem_limit", "pids_limit"):
        if limit not in service:
            yield f"{limit} is not set"
    if service.get("ulimits", {}).get("core") != 0:
        yield "it may leave core dumps"
    if name in LASTING and service.get("restart") != "unless-stopped":
        yield "it is not started again"
    for key, value in service.get("environment", {}).items():
        if re.search(r"PASSWORD|SECRET|PEPPER|DATABASE_URL", key) and not key.endswith("_FILE"):
            yield f"{key} is in the environment"
        if re.search(r"://[^/@]*:[^/@]*@", str(value)):
            yield f"{key} holds a password"
    for secret in service.get("secrets", []):
        if secret not in document["secrets"]:
            yield f"secret {secret} is not defined"
    if name in FROM_OTHERS:
        if "@sha256:" not in service["image"]:
            yield "its image is not pinned by digest"
        if "healthcheck" not in service:
            yield "nobody asks how it is"
    if "stop_grace_period" not in service and name in LASTING:
        yield "it has no time to stop"


def leaves(document, name):
    """True when a network of the service is not internal, so that name servers can be reached."""
    networks = document["services"][name]["networks"]
    return any(not (document["networks"][network] or {}).get("internal") for network in networks)


def file_faults(document):
    for name, service in document["services"].items():
        for fault in service_faults(name, service, document):
            yield f"{name}: {fault}"
    if document["services"]["redis-safety"]["networks"] != ["redis"]:
        yield "redis-safety: it is on another network too"
    if document["networks"]["redis"] != {"internal": True}:
        yield "redis: the network is not internal"
    for name in ("worker", "safetyctl"):
        if not leaves(document, name):
            yield f"{name}: no name server can be reached from its networks"
    for name, secret in document["secrets"].items():
        if secret != {"file": f"./secrets/{name}"}:
            yield f"{name}: the secret is no file of the secrets' folder"


class ComposeFile(unittest.TestCase):
    def config(self, *arguments):
        profiles = [part for name in PROFILES for part in ("--profile", name)]
        command = [*compose_command(), "-f", str(FILE), *profiles, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60,
                              cwd="/")

    def test_compose_reads_it_with_and_without_the_example_environment(self):
        rendered = []
        empty = tempfile.NamedTemporaryFile(prefix="compose_")
        self.addCleanup(empty.close)
        for name in (str(VM2 / "example.env"), empty.name):
            result = self.config("--env-file", name, "config")
            self.assertEqual(result.returncode, 0, result.stderr)
            rendered.append(yaml.safe_load(result.stdout)["services"])
        # The example says what the defaults are.
        self.assertEqual(rendered[0], rendered[1])
        self.assertEqual(set(rendered[0]), set(load()["services"]))

    def test_every_service_is_hardened(self):
        self.assertEqual(list(file_faults(load())), [])

    def test_each_rule_can_fail(self):
        plants = [
            ("worker", "user", "0:0", "user is not"), ("worker", "read_only", False, "written"),
            ("worker", "cap_add", ["NET_ADMIN"], "capabilities"),
            ("worker", "security_opt", [], "privileges"), ("worker", "privileged", True, "is set"),
            ("worker", "tmpfs", ["/tmp:size=1m"], "allows programs"),
            ("worker", "tmpfs", ["/tmp:noexec,nosuid,nodev"], "no bound"),
            ("worker", "volumes", ["/var/run/docker.sock:/s:ro"], "reach Docker"),
            ("worker", "volumes", ["./x:/x"], "can be written"),
            ("worker", "ports", ["9464:9464"], "other machines"),
            ("redis-safety", "ports", ["127.0.0.1:1:6379"], "published"),
            ("postgres", "mem_limit", None, "mem_limit"), ("worker", "ulimits", {}, "core dumps"),
            ("worker", "restart", "no", "not started again"),
            ("worker", "environment", {"REDIS_PASSWORD": "x"}, "in the environment"),
            ("worker", "environment", {"X_URL": "redis://u:p@h"}, "holds a password"),
            ("worker", "secrets", ["other"], "is not defined"),
            ("postgres", "image", "postgres:16", "not pinned"),
            ("redis-safety", "healthcheck", None, "asks how it is"),
            ("redis-safety", "stop_grace_period", None, "time to stop"),
            ("redis-safety", "networks", ["redis", "database"], "another network"),
            ("worker", "networks", ["redis"], "no name server"),
            ("safetyctl", "networks", ["redis"], "no name server"),
        ]
        for name, key, value, words in plants:
            document = copy.deepcopy(load())
            document["services"][name][key] = value
            if value is None:
                del document["services"][name][key]
            self.assertIn(words, "\n".join(file_faults(document)), (name, key))

    def test_a_network_that_became_internal_is_found(self):
        document = copy.deepcopy(load())
        document["networks"]["database"] = {"internal": True}
        self.assertIn("worker: no name server", "\n".join(file_faults(document)))

    def test_the_worker_waits_for_nobody(self):
        for name, service in load()["services"].items():
            self.assertNotIn("depends_on", service, name)

    def test_the_operators_command_judges_with_the_workers_rules(self):
        def mounts(name):
            return dict(mount.split(":")[1::-1] for mount in load()["services"][name]["volumes"])

        folder = "/etc/han-safety/"
        settings = yaml.safe_load((VM2 / "settings.yaml").read_text())
        environment = load()["services"]["safetyctl"]["environment"]
        for key, variable in (("rules", "MESSAGE_SAFETY_RULES"),
                              ("config", "MESSAGE_SAFETY_CONFIG")):
            target = folder + settings[key]
            self.assertEqual(environment[variable], target)
            self.assertEqual(mounts("safetyctl")[target], mounts("worker")[target])

    def test_scripts_that_it_mounts_are_there(self):
        for service in load()["services"].values():
            for mount in service.get("volumes", []):
                if mount.startswith("."):
                    self.assertTrue((VM2 / mount.split(":")[0]).resolve().is_file(), mount)


class Alarms(unittest.TestCase):
    """README's table of alarms names only metrics that the programs write."""

    def named(self, text):
        table = text.split("Worth an alarm", 1)[1].split("\n\n", 2)[1]
        rows = [row.split(" | ")[0] for row in table.splitlines()[2:]]
        return {name for row in rows for name in re.findall(r"`([a-z_]+)(?:\{[^`]*\})?`", row)}

    def unknown(self, names):
        files = [path for folder in ("safety", "pgqueue", "cache", "dns")
                 for path in (COMPOSE.parent / folder).rglob("*.cpp")]
        known = set(re.findall(r'"([a-z_]+)"', "\n".join(path.read_text() for path in files)))
        return {name for name in names if name not in known}

    def test_they_exist(self):
        names = self.named((COMPOSE.parent / "README.md").read_text())
        self.assertGreaterEqual(names, {"dns_up", "dns_queries_total", "queue_oldest_seconds"})
        self.assertEqual(self.unknown(names), set())

    def test_one_that_does_not_is_found(self):
        row = "Worth an alarm:\n\n| metric | when |\n|---|---|\n| `dns_upp{kind=\"a\"}` | 0 |\n\nx"
        self.assertEqual(self.unknown(self.named(row)), {"dns_upp"})


class RedisConf(unittest.TestCase):
    """The words of redis.conf that loss, memory and secrecy hang on."""

    def setUp(self):
        self.lines = {}
        for line in (VM2 / "redis.conf").read_text().splitlines():
            if line and not line.startswith("#"):
                name, _, value = line.partition(" ")
                self.lines.setdefault(name, []).append(value)

    def test_memory(self):
        limit = size(load()["services"]["redis-safety"]["mem_limit"])
        share = size(self.lines["maxmemory"][0]) / limit
        self.assertTrue(0.65 <= share <= 0.75, share)
        self.assertEqual(self.lines["maxmemory-policy"], ["volatile-lru"])
        environment = load()["services"]["redis-safety"]["environment"]
        self.assertEqual(environment["REDIS_MAXMEMORY"], self.lines["maxmemory"][0])
        self.assertEqual(environment["REDIS_MAXMEMORY_POLICY"], "volatile-lru")
        buffers = " ".join(self.lines["client-output-buffer-limit"])
        self.assertRegex(buffers, r"pubsub [1-9]\S* [1-9]\S* [1-9]")

    def test_persistence(self):
        self.assertEqual(self.lines["appendonly"], ["yes"])
        self.assertEqual(self.lines["appendfsync"], ["everysec"])
        self.assertEqual(self.lines["save"], ["900 1 300 100 60 10000"])
        self.assertEqual(self.lines["aof-use-rdb-preamble"], ["yes"])

    def test_users_and_commands(self):
        self.assertEqual(self.lines["aclfile"], ["/run/redis/users.acl"])
        self.assertEqual(self.lines["protected-mode"], ["yes"])
        self.assertEqual(self.lines["databases"], ["1"])
        for name in ("requirepass", "user", "rename-command", "include", "loadmodule"):
            self.assertNotIn(name, self.lines)
        for name in ("enable-debug-command", "enable-module-command", "enable-protected-configs"):
            self.assertEqual(self.lines[name], ["no"])

    def test_what_is_slow_is_remembered(self):
        self.assertGreater(int(self.lines["latency-monitor-threshold"][0]), 0)
        self.assertGreater(int(self.lines["slowlog-log-slower-than"][0]), 0)


class Dockerfile(unittest.TestCase):
    def setUp(self):
        self.text = (COMPOSE / "image/Dockerfile").read_text()

    def test_base_is_an_argument_and_the_user_is_not_root(self):
        self.assertEqual(re.findall(r"(?m)^FROM (\S+)", self.text), ["${BASE}", "${BASE}"])
        self.assertEqual(re.findall(r"(?m)^USER (.*)$", self.text), ["10001:10001"])
        self.assertIn("HEALTHCHECK", self.text)

    def test_nothing_comes_from_elsewhere_than_debian_and_this_tree(self):
        for word in ("curl", "wget", "git clone", "pip ", "npm ", "ADD ", "://"):
            self.assertNotIn(word, self.text)

    def test_no_secret_is_an_argument_of_the_build(self):
        self.assertEqual(set(re.findall(r"(?m)^ARG (\w+)", self.text)), {"BASE", "JOBS"})

    def test_what_it_copies_is_in_the_context(self):
        allowed = (COMPOSE / "image/Dockerfile.dockerignore").read_text().splitlines()
        self.assertEqual(allowed[0], "*")
        for path in re.findall(r"(?m)^COPY (?:--chmod=\S+ )?(compose/\S+)", self.text):
            self.assertIn(f"!{path}", allowed)


if __name__ == "__main__":
    unittest.main()
