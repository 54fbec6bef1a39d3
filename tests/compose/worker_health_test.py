"""worker_health.sh of the image: it passes on what /readyz says."""

import subprocess
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer

from support import COMPOSE, free_port, need

SCRIPT = COMPOSE / "image/worker_health.sh"


class Readiness(BaseHTTPRequestHandler):
    status = 200
    asked = None

    def do_GET(self):
        type(self).asked = self.path
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(b"postgresql: down\nredis: up\n")

    def log_message(self, *_):
        """Quiet."""


class WorkerHealth(unittest.TestCase):
    def health(self, port):
        return subprocess.run([need("bash", "bash"), SCRIPT], capture_output=True, text=True,
                              check=False, timeout=30, env={"HAN_SAFETY_ADMIN_PORT": str(port)})

    def answered(self, status):
        server = HTTPServer(("127.0.0.1", 0), Readiness)
        self.addCleanup(server.server_close)
        Readiness.status = status
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        result = self.health(server.server_port)
        thread.join()
        self.assertEqual(Readiness.asked, "/readyz")
        return result

    def test_ready_is_healthy(self):
        self.assertEqual(self.answered(200).returncode, 0)

    def test_not_ready_is_not_and_says_why(self):
        result = self.answered(503)
        self.assertEqual((result.returncode, result.stdout), (1, "postgresql: down\n"))

    def test_nothing_listens(self):
        result = self.health(free_port())
        self.assertEqual(result.returncode, 1)
        self.assertIn("nothing listens", result.stdout)


if __name__ == "__main__":
    unittest.main()
