"""Starts the real binary and sends requests to it. Shared by the walk-through, the crash and contract tests, and the benchmarks."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess

API_TOKEN = "demo-api-token"


class Simulator:
    """One server process on a free port of 127.0.0.1. It ends with this process, even after a crash."""

    def __init__(self, binary, *flags, environment=None):
        self.process = self.spawn(binary, *flags, environment=environment)
        for line in self.process.stdout:
            found = re.search(r"is open on http://([\d.]+):(\d+)", line)
            if found:
                self.host, self.port = found.group(1), int(found.group(2))
                self.url = f"http://{self.host}:{self.port}"
                return
        raise SystemExit("the server did not start")

    @staticmethod
    def spawn(binary, *flags, environment=None):
        """Starts the process, which may not accept connections yet."""
        return subprocess.Popen(
            [binary, "serve", "--port", "0", "--exit-with-parent", *flags],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})

    def kill(self):
        """Kills the server like `kill -9`."""
        self.process.send_signal(signal.SIGKILL)
        self._close()

    def stop(self):
        """Stops the server like Ctrl-C: it finishes the requests that it has accepted."""
        self.process.terminate()
        self._close()

    def _close(self):
        self.process.wait(timeout=60)
        self.process.stdin.close()
        self.process.stdout.close()


class Client:
    """A client with one connection."""

    def __init__(self, simulator, base=""):
        self.base = base
        self.connection = http.client.HTTPConnection(simulator.host, simulator.port, timeout=60)
        self.connection.connect()
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __call__(self, method, path, body=None, token=None):
        """Sends a request. Returns the status and the bytes. A body that is not bytes is sent as JSON."""
        headers = {"Authorization": f"Token {token}"} if token else {}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        self.connection.request(method, self.base + path, body, headers)
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def json(self, *arguments, **options):
        """Sends a request. Returns the status and the JSON."""
        status, data = self(*arguments, **options)
        return status, json.loads(data) if data else None

    def must(self, method, path, body=None, token=None):
        """Sends a request that must succeed, and returns the answer. An error ends the program."""
        status, data = self(method, path, body, token)
        if status >= 300:
            raise SystemExit(f"{method} {path}: {status} {data[:300]!r}")
        try:
            return json.loads(data) if data else None
        except ValueError:
            return data

    def close(self):
        self.connection.close()


def picture(comment="", size=3000):
    """A file with the structure of a JPEG and about `size` bytes. Another comment makes another image."""
    comment = comment.encode()
    return (b"\xff\xd8\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment
            + b"\xff\xc0\x00\x0b\x08\x00\x10\x00\x10\x01\x01\x11\x00"
            + b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00" + b"\x12" * size + b"\xff\xd9")


def log_in(client, user, **names):
    """Logs in an SDK user of the demo organization and returns the session token."""
    signed = client.must(
        "POST", "/v2/integrations/authorize-user",
        {"sdk_authorization_request": "test", "unique_user_id": user, "email": f"{user}@example.com", **names}, API_TOKEN)
    return client.must(
        "POST", "/sdk/login", {"signed_authorization_request": signed["signed_authorization_request"]})["token"]
