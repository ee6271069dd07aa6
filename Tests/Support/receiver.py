"""The webhook receiver of the crash and soak tests. It records deliveries and can answer with errors."""
import collections
import hashlib
import http.server
import json
import threading
import time

Reception = collections.namedtuple("Reception", "time path event_id status digest body")


class Receiver:
    """Listens on a free port of 127.0.0.1 until it is closed.

    `answer` gets an event's id and the number of its earlier deliveries, and returns the status to answer.
    """

    def __init__(self, answer=lambda event_id, before: 204, keeps=True):
        self.lock = threading.Lock()
        self.receptions = []
        self.counts = collections.Counter()
        self.total = 0
        # The number of webhooks whose sender ended before it had sent all. They did not come.
        self.cut = 0
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(length)
                if len(body) < length:
                    with receiver.lock:
                        receiver.cut += 1
                    self.close_connection = True
                    return
                event_id = self.headers.get("X-Sim-Event-Id") or json.loads(body).get("event_id")
                with receiver.lock:
                    status = answer(event_id, receiver.counts[event_id] if keeps else 0)
                    receiver.total += 1
                    if keeps:
                        receiver.counts[event_id] += 1
                        receiver.receptions.append(Reception(
                            time.monotonic(), self.path, event_id, status, hashlib.sha256(body).hexdigest(), body))
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                except OSError:
                    pass  # the sender was killed

            def log_message(self, *arguments):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 128
            daemon_threads = True

            def handle_error(self, request, address):
                pass  # the sender was killed

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def received(self):
        """The deliveries received so far."""
        with self.lock:
            return list(self.receptions)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
