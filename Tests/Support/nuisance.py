"""A bad neighbour for the crash and soak tests: a receiver that never answers, clients that do not wait for their answers, small
requests that become large ones, and many at once."""
import gzip
import http.client
import json
import random
import socket
import struct
import threading

from simulator import API_TOKEN, Client

# Reads that cost much, and writes that a caller who has gone still wants.
REQUESTS = [("GET", "/_sim/export"), ("GET", "/_sim/requests?format=har"), ("GET", "/_sim/bundle"), ("GET", "/_sim/requests"),
            ("POST", "/_sim/authentications"), ("GET", "/_sim/events"), ("POST", "/_sim/clock/advance"),
            ("GET", "/_sim/audit"), ("GET", "/_sim/coverage")]
# A kilobyte each: many numbers as seed data, and a body with as many values as one may have.
SEED = gzip.compress(json.dumps({"x": [0] * 300_000}).encode())
BODY = gzip.compress(json.dumps({"sdk_authorization_request": "r", "unique_user_id": "held", "x": [0] * 49_990}).encode())
ENCODED = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
PIPELINED = 500


class HangingReceiver:
    """Accepts connections on a free port of 127.0.0.1, and reads and answers nothing until it is closed."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/hang"
        self.connections = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                self.connections.append(self.listener.accept()[0])
            except OSError:
                return
            # The oldest are closed, or a long test would run out of descriptors.
            if len(self.connections) > 64:
                self.connections.pop(0).close()

    def close(self):
        self.listener.close()
        for connection in self.connections:
            connection.close()


class Nuisance:
    """Works in a namespace of its own until it is stopped, or the server is gone."""

    def __init__(self, server, name="nuisance", pause=0.05):
        self.server, self.name, self.pause = server, name, pause
        self.receiver = HangingReceiver()
        self.is_over = threading.Event()
        self.events = self.resets = self.floods = 0
        # Why it ended before it was stopped; in the crash test the server is gone.
        self.problem = None
        self.threads = []

    def start(self):
        """Makes the namespace, and starts."""
        client = Client(self.server)
        client.must("PUT", f"/_sim/namespaces/{self.name}", {})
        client.base = f"/ns/{self.name}"
        client.must("PATCH", "/_sim/settings", {"journal": {"entries": 500}, "webhooks": {"retries": ["1s", "1s"]}})
        client.must("POST", "/v2/webhooks", {"url": self.receiver.url, "secret_key": "s"}, API_TOKEN)
        client.close()
        for job in (self.cause_events, self.reset_requests, self.flood):
            thread = threading.Thread(target=self.guarded, args=(job,))
            self.threads.append(thread)
            thread.start()

    def stop(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join()
        self.receiver.close()

    def guarded(self, job):
        try:
            job()
        except (OSError, http.client.HTTPException, SystemExit) as problem:
            if not self.is_over.is_set():
                self.problem = repr(problem)

    def cause_events(self):
        client = Client(self.server, f"/ns/{self.name}")
        while not self.is_over.wait(self.pause):
            self.events += 1
            client.must("POST", "/_sim/authentications", {"count": 1})
            # Without this the items of a long test would be the load.
            if self.events % 400 == 0:
                client.must("POST", "/_sim/reset")
                client.must("PATCH", "/_sim/settings", {"journal": {"entries": 500}, "webhooks": {"retries": ["1s", "1s"]}})
                client.must("POST", "/v2/webhooks", {"url": self.receiver.url, "secret_key": "s"}, API_TOKEN)

    def reset_requests(self):
        chance = random.Random(self.name)
        while not self.is_over.wait(self.pause):
            connection = socket.create_connection((self.server.host, self.server.port))
            connection.settimeout(5)
            # Closing it resets it.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            try:
                self.send_some(connection, chance)
            except OSError:
                pass  # the server has closed it
            connection.close()
            self.resets += 1

    def send_some(self, connection, chance):
        for _ in range(chance.randint(1, 30)):
            method, path = chance.choice(REQUESTS)
            body = {"/_sim/authentications": b'{"count": 1}', "/_sim/clock/advance": b'{"by": "1s"}'}.get(path, b"")
            kind = "Content-Type: application/json\r\n" if body else ""
            connection.sendall(
                f"{method} /ns/{self.name}{path} HTTP/1.1\r\nHost: {self.server.host}\r\n{kind}"
                f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        # Some end within a request, some once a part of an answer has come.
        if chance.random() < 0.3:
            connection.sendall(b"POST /_sim/authentications HTTP/1.1\r\nHost: x")
        if chance.random() < 0.5:
            connection.recv(1000)

    def flood(self):
        """Sends seed data that is wrong, requests that are held for a second, and many requests before the first answer."""
        root = f"/ns/{self.name}"
        client = http.client.HTTPConnection(self.server.host, self.server.port, timeout=120)

        def ask(method, path, body, headers):
            client.request(method, root + path, body, headers)
            answer = client.getresponse()
            answer.read()
            return answer.status

        while not self.is_over.wait(20 * self.pause):
            if ask("POST", "/_sim/seed", SEED, ENCODED) != 400:
                self.problem = "seed data with an unknown member was not refused"
            rule = {"match": {"route": "/v2/integrations/authorize-user"}, "effect": {"hold": {"for": "1s"}}, "times": 5}
            ask("POST", "/_sim/faults", json.dumps(rule), {"Content-Type": "application/json"})
            held = []
            for _ in range(5):
                held.append(http.client.HTTPConnection(self.server.host, self.server.port, timeout=120))
                held[-1].request("POST", root + "/v2/integrations/authorize-user", BODY,
                                 {**ENCODED, "Authorization": f"Token {API_TOKEN}"})
            self.pipeline(f"GET {root}/_sim/clock HTTP/1.1\r\nHost: {self.server.host}\r\n\r\n".encode())
            for connection in held:
                connection.getresponse().read()
                connection.close()
            self.floods += 1

    def pipeline(self, request):
        with socket.create_connection((self.server.host, self.server.port), timeout=120) as connection:
            connection.sendall(request * PIPELINED)
            reader = connection.makefile("rb")
            for number in range(PIPELINED):
                if not reader.readline().startswith(b"HTTP/1.1 200"):
                    raise OSError(f"answer {number} of {PIPELINED} is not 200")
                reader.read(int(http.client.parse_headers(reader)["Content-Length"]))
